import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '#providers/sandbox/factory.ts';
import { type Machine, readMachine } from '#providers/sandbox/machine.ts';
import { describeRefusals, explainRefusal, NoSandbox } from '#providers/sandbox/refusals.ts';
import type { SandboxKind } from '#providers/sandbox/sandbox.ts';
import { dataDir, newOwner } from './fixture.ts';

const debian: Machine = {
  platform: 'linux',
  isRoot: false,
  isContainer: false,
  isWsl1: false,
  userNamespacesMax: 15_000,
  unprivilegedNamespaces: true,
  isAppArmorRestricting: false,
  missing: [],
  unreadable: undefined,
};
const noEngine = 'No container engine is responding.';

const cases: { what: string; kind: SandboxKind; machine: Partial<Machine>; detail: string; says: string }[] = [
  {
    what: 'no engine',
    kind: 'docker',
    machine: {},
    detail: noEngine,
    says: 'No container engine is responding. Install and start Docker.',
  },
  {
    what: 'no engine on macOS',
    kind: 'docker',
    machine: { platform: 'darwin' },
    detail: noEngine,
    says: 'No container engine is responding. Start Docker Desktop, OrbStack or Colima.',
  },
  {
    what: 'an engine that fails',
    kind: 'docker',
    machine: {},
    detail: 'no space left on device.\nat …',
    says: 'The container engine does not work: no space left on device.',
  },
  {
    what: 'an engine of other users',
    kind: 'docker',
    machine: {},
    detail: '/var/run/docker.sock is closed to your user',
    says: 'The container engine does not work: /var/run/docker.sock is closed to your user. Add your user to the group docker, and sign in again.',
  },
  {
    what: 'no bubblewrap',
    kind: 'bubblewrap',
    machine: { missing: ['bwrap'] },
    detail: 'ENOENT',
    says: 'bubblewrap is not installed. Install bubblewrap.',
  },
  {
    what: 'half of util-linux',
    kind: 'namespaces',
    machine: { missing: ['setpriv', 'prlimit'] },
    detail: '',
    says: 'setpriv, prlimit of util-linux are not installed. Install util-linux.',
  },
  {
    what: 'a limit of none',
    kind: 'bubblewrap',
    machine: { userNamespacesMax: 0 },
    detail: '',
    says: 'The kernel’s limit of user namespaces is 0. To permit them: sudo sysctl -w user.max_user_namespaces=15000.',
  },
  {
    what: 'a kernel that trusts root only',
    kind: 'namespaces',
    machine: { unprivilegedNamespaces: false, isRoot: true },
    detail: '',
    says: 'The kernel gives user namespaces to root only. To permit them: sysctl -w kernel.unprivileged_userns_clone=1.',
  },
  {
    what: 'AppArmor of Ubuntu 24.04',
    kind: 'namespaces',
    machine: { isAppArmorRestricting: true },
    detail: 'mount: permission denied',
    says: 'AppArmor gives user namespaces only to programs with a profile. To permit them: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
  },
  {
    what: 'a container',
    kind: 'namespaces',
    machine: { isContainer: true },
    detail: 'unshare failed',
    says: 'This container may not create namespaces. Give it the socket of a container engine, or run Frontage outside of it.',
  },
  {
    what: 'WSL 1',
    kind: 'bubblewrap',
    machine: { isWsl1: true, userNamespacesMax: undefined },
    detail: '',
    says: 'WSL 1 has no namespaces. In Windows: wsl --set-version <distribution> 2.',
  },
  {
    what: 'a closed folder',
    kind: 'namespaces',
    machine: { unreadable: '/root', isRoot: true, isContainer: true },
    detail: 'sh: cannot cd',
    says: 'User 10001, who builds, may not enter /root. To permit it: chmod a+x /root.',
  },
  {
    what: 'an unknown error',
    kind: 'bubblewrap',
    machine: {},
    detail: '\nbwrap: Out of luck.\nmore',
    says: 'bubblewrap does not work here: bwrap: Out of luck.',
  },
  {
    what: 'Linux on macOS',
    kind: 'bubblewrap',
    machine: { platform: 'darwin' },
    detail: '',
    says: 'bubblewrap requires Linux.',
  },
];

test.for(cases)('the refusal of $what names reason and remedy', ({ kind, machine, detail, says }) => {
  expect(describeRefusals([explainRefusal(kind, { ...debian, ...machine }, detail)])).toBe(says);
});

test('a reason or remedy that several share is named once', () => {
  const machine = { ...debian, userNamespacesMax: 0 };
  const refusals = (['bubblewrap', 'namespaces'] as const).map((kind) => explainRefusal(kind, machine, ''));
  const error = new NoSandbox(refusals);
  expect(error.message.split('sysctl')).toHaveLength(2);
  expect(error.message.split('limit of')).toHaveLength(2);
  expect(error.refusals.map(({ kind }) => kind)).toEqual(['bubblewrap', 'namespaces']);
});

test('this machine’s facts can be read', () => {
  expect(readMachine(dataDir)).toMatchObject({ platform: process.platform, isRoot: process.getuid?.() === 0 });
});

test('a closed folder is in the way only where root may not mount', ({ skip }) => {
  skip(process.getuid?.() !== 0, 'run the tests as root');
  const folder = mkdtempSync(join(tmpdir(), 'frontage-closed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'sandbox'));
  const machine = fileURLToPath(import.meta.resolve('#providers/sandbox/machine.ts'));
  const read = `const { readMachine } = await import(${JSON.stringify(machine)});
    process.stdout.write(String(readMachine(${JSON.stringify(folder)}).unreadable));`;
  const tell = (...without: string[]) =>
    execFileSync('setpriv', [...without, process.execPath, '--input-type=module', '-e', read], { encoding: 'utf8' });
  expect(tell('--no-new-privs')).toBe('undefined');
  expect(tell('--bounding-set=-sys_admin')).toBe(folder);
});

test('a named kind that does not work is an error with its refusal', async () => {
  const quiet = { info: () => {}, warn: () => {} };
  const kind = process.platform === 'darwin' ? 'namespaces' : 'seatbelt';
  const opening = openSandbox({
    mode: kind,
    dataDir,
    dockerHost: '',
    owner: newOwner(),
    log: quiet,
    onProgress: () => {},
  });
  const error = await opening.catch((caught) => caught);
  expect(error).toBeInstanceOf(NoSandbox);
  expect(error.refusals).toEqual([{ kind, reason: expect.any(String), remedy: expect.any(String) }]);
});
