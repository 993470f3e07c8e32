/**
 * @module-tag machines
 *
 * `npm start` from a fresh clone on machines that lack something. Each ends with the demo site, or says in one sentence what to do
 * before it installs anything. Prints a row of docs/machines.md for each.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, type MachineOptions, makeMachine } from '#test/campaigns/machines/machine.ts';
import { type Materials, makeMaterials, offerDownloads } from '#test/campaigns/machines/materials.ts';
import { npmStart, type Start, visitDemo } from '#test/campaigns/machines/start.ts';
import { type OwnEngine, startBareEngine } from '#test/stack/engine.ts';
import { makeRunFolder, removeRunFolder } from '#test/stack/run-folder.ts';
import { isLong } from './size.ts';

type Kind = Partial<MachineOptions> & {
  /** What temporal.download does; by default it has the CLI. */
  downloads?: 'work' | 'hang' | 'fail';
  /** Whether there is a `temporal` on PATH. */
  temporal?: boolean;
  /** A container engine of its own. */
  docker?: boolean;
  /** In the short form too. */
  brief?: boolean;
  /** What the only sentence contains, if nothing can be started. */
  refusal?: RegExp;
};

const kinds: Record<string, Kind> = {
  'Node, npm and git, as root': {},
  'Node, npm and git, as a user without sudo': { brief: true, asUser: true },
  'with bubblewrap': { asUser: true, programs: ['bwrap'] },
  'with a container engine': { docker: true },
  'in a container without user namespaces': { brief: true, contained: true },
  'without outside downloads, Temporal on PATH': { asUser: true, downloads: 'fail', temporal: true },
  'without outside downloads': { brief: true, asUser: true, downloads: 'fail', refusal: /Temporal.*PATH.*Go/ },
  'with downloads that hang': { asUser: true, downloads: 'hang', refusal: /Temporal.*PATH.*Go/ },
};

const folder = makeRunFolder();
const rows = ['| machine | ends with | ready after | sandbox | `node_modules` | `.frontage` | cache |'];
let materials: Materials;
let engine: OwnEngine | undefined;

beforeAll(async () => {
  materials = await makeMaterials(folder);
}, 300_000);

afterAll(async () => {
  await engine?.stop();
  removeRunFolder(folder);
  console.log(rows.join('\n'));
});

for (const [name, kind] of Object.entries(kinds)) {
  if (!isLong && !kind.brief) continue;
  test(`npm start completes or explains itself: ${name}`, async ({ onTestFinished }) => {
    if (kind.docker) engine = await startBareEngine(folder);
    const machine = await makeMachine({
      ...kind,
      npmCache: materials.npmCache,
      env: materials.trust,
      ...(kind.temporal ? { files: { temporal: materials.temporal } } : {}),
      ...(kind.docker && engine ? { engine: engine.host.replace('unix://', '') } : {}),
    });
    onTestFinished(() => machine.remove());
    await offerDownloads(machine, materials, kind.downloads ?? 'work');
    const start = npmStart(machine);
    const isReady = await start.isReady();
    console.log(`${name}\n${start.said()}`);
    await (kind.refusal
      ? expectRefusal(name, machine, start, kind.refusal)
      : expectDemo(name, machine, start, isReady));
  }, 1_500_000);
}

async function expectDemo(name: string, machine: Machine, start: Start, isReady: boolean): Promise<void> {
  expect(isReady, start.report()).toBe(true);
  const seconds = start.seconds();
  const { site, account } = await visitDemo(machine);
  const folders = ['frontage/node_modules', 'frontage/.frontage', 'home/.cache'];
  const sizes = megabytes(folders.map((path) => join(machine.clone, '..', path)));
  addRow(
    name,
    site.status === 200 ? 'the demo site' : `status ${site.status}`,
    `${seconds.toFixed(0)} s`,
    account.sandboxes.join(' '),
    ...sizes,
  );
  // Builds without a sandbox are announced, with what to install.
  if (account.sandboxes.includes('unprotected'))
    expect(start.said()).toContain('Site code runs with the rights of your user');
  expect(site).toMatchObject({ status: 200, body: expect.stringContaining('<html') });
  expect(start.said()).not.toContain('✗');
  await start.stop();
  expect(start.said()).toContain('✓ Stopped');
}

async function expectRefusal(name: string, machine: Machine, start: Start, sentence: RegExp): Promise<void> {
  addRow(name, 'one sentence', `${start.seconds().toFixed(0)} s`, '', '', '', '');
  expect(start.exitCode()).toBe(1);
  const said = start
    .said()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('>'));
  expect(said.filter((line) => !line.startsWith('…'))).toEqual([expect.stringMatching(sentence)]);
  expect(existsSync(join(machine.clone, 'node_modules'))).toBe(false);
  const data = join(machine.clone, '.frontage');
  expect(existsSync(data) ? readdirSync(data) : []).toEqual([]);
}

/** A file with several names counts where it is first: Node's program is in the packages and in the sandbox's image. */
function megabytes(paths: string[]): string[] {
  const present = paths.filter((path) => existsSync(path));
  const lines = execFileSync('du', ['-sm', ...present], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return paths.map((path) => `${lines.find((line) => line.endsWith(`\t${path}`))?.split('\t')[0] ?? 0} MB`);
}

function addRow(...cells: string[]): void {
  rows.push(`| ${cells.join(' | ')} |`);
  console.log(rows.at(-1));
}
