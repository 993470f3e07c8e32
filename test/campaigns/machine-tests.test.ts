/**
 * @module-tag machines
 *
 * `npm test` from a fresh clone on machines with nothing but Node, npm and git. Only the long form runs it whole: about half an hour for each.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, type MachineOptions, makeMachine } from '#test/campaigns/machines/machine.ts';
import { type Materials, makeMaterials, offerDownloads } from '#test/campaigns/machines/materials.ts';
import { makeRunFolder, removeRunFolder } from '#test/stack/run-folder.ts';
import { isLong } from './size.ts';

const kinds: Record<string, Partial<MachineOptions>> = {
  'as a user without sudo': { asUser: true },
  'as root': {},
};
const folder = makeRunFolder();
let materials: Materials;

beforeAll(async () => {
  materials = await makeMaterials(folder);
}, 300_000);

afterAll(() => removeRunFolder(folder));

for (const [name, kind] of Object.entries(kinds)) {
  if (!isLong && !kind.asUser) continue;
  test(`npm test is green with Node, npm and git alone: ${name}`, async ({ onTestFinished }) => {
    const machine = await makeMachine({ ...kind, npmCache: materials.npmCache, env: materials.trust });
    onTestFinished(() => machine.remove());
    await offerDownloads(machine, materials, 'work');
    const output = await runTests(
      machine,
      isLong ? [] : ['test/rules', 'test/sandbox/sites.test.ts', 'test/acceptance/publishing.test.ts'],
    );
    expect(output.trimEnd().split('\n').at(-1), output.slice(-20_000)).toMatch(/^[1-9]\d* passed, 0 failed$/);
    if (isLong) expect(output).toContain('Tests were skipped because this machine lacks programs:');
  }, 5_400_000);
}

async function runTests(machine: Machine, parts: string[]): Promise<string> {
  const child = machine.spawn(['npm', 'test', ...(parts.length > 0 ? ['--', ...parts] : [])]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
  }
  await once(child, 'close');
  return output;
}
