/** What `npm start` does with and without a browser. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemPath } from '#providers/browser/wall.ts';
import { type Machine, readMachine } from '#providers/sandbox/machine.ts';
import { chooseBrowser, explainFault } from '#tools/local/browser.ts';

const off = { FRONTAGE_SCREENSHOTS: 'off' };

/** A shell script in a folder of its own, which users of all kinds can read. Returns the folder. */
function folderWith(name: string, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-browser-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

test('without Chromium, screenshots are off, and the start says how to get it', async () => {
  const { settings, lines } = await chooseBrowser({ FRONTAGE_CHROMIUM: '/nowhere/chromium' });
  expect(settings).toEqual(off);
  expect(lines).toEqual([expect.stringMatching(/^… Screenshots and checks of pages are off: .*chromium/)]);
});

test('a setting of the user is left alone', async () => {
  for (const FRONTAGE_SCREENSHOTS of ['on', 'off']) {
    const choice = await chooseBrowser({ FRONTAGE_SCREENSHOTS, FRONTAGE_CHROMIUM: '/nowhere' });
    expect(choice).toEqual({ settings: {}, lines: [] });
  }
});

test('with Chromium and bubblewrap, screenshots are on', { tags: ['chromium', 'bubblewrap'] }, async () => {
  expect(await chooseBrowser({})).toEqual({ settings: { FRONTAGE_SCREENSHOTS: 'on' }, lines: [] });
});

test('a Chromium that bubblewrap cannot start turns screenshots off', { tags: 'bubblewrap' }, async () => {
  const snap = join(folderWith('chromium', 'exec snap run chromium "$@"'), 'chromium');
  for (const [path, detail] of [
    [snap, `bwrap: execvp ${snap}: No such file or directory`],
    ['/bin/false', 'it exited with code 1'],
  ]) {
    expect(await chooseBrowser({ FRONTAGE_CHROMIUM: path })).toEqual({
      settings: off,
      lines: [
        `… Screenshots and checks of pages are off: ${path} does not run in bubblewrap (${detail}). Install a Chromium that is not a snap, for example Google Chrome, and set FRONTAGE_CHROMIUM to its path. Then start again.`,
      ],
    });
  }
});

test('a bubblewrap that encloses nothing turns screenshots off', { tags: 'bubblewrap' }, async () => {
  const says = 'bwrap: Unknown option --size';
  const path = `${folderWith('bwrap', `echo '${says}' >&2; exit 1`)}:${systemPath}`;
  expect(await chooseBrowser({ FRONTAGE_CHROMIUM: '/bin/true' }, path)).toEqual({
    settings: off,
    lines: [
      `… Screenshots and checks of pages are off: bubblewrap is too old (${says}). Install version 0.8 or later. Then start again.`,
    ],
  });
});

const usual: Machine = { ...readMachine('/'), platform: 'linux', isRoot: false, isWsl1: false, missing: [] };
const permissive = { ...usual, userNamespacesMax: 1, unprivilegedNamespaces: true, isAppArmorRestricting: false };

test.each([
  [
    'AppArmor',
    { isAppArmorRestricting: true },
    'AppArmor gives user namespaces only to programs with a profile. To permit them: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
  ],
  [
    'a container',
    { isContainer: true },
    'bubblewrap does not work here: bwrap: no permission. Run Frontage outside of this container.',
  ],
  [
    'another cause',
    { isContainer: false },
    'bubblewrap does not work here: bwrap: no permission. Permit it (docs/operations.md, “Sandboxes”).',
  ],
])('the line for %s has reason and remedy', (_cause, machine, says) => {
  const fault = { of: 'wall', detail: 'bwrap: no permission' } as const;
  expect(explainFault(fault, '/usr/bin/chromium', { ...permissive, ...machine })).toBe(says);
});
