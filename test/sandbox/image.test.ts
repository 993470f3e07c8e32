import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { imageId, makeImageFolder } from '../../sandbox/image.ts';
import { dataDir } from './world.ts';

test('an image that stands is found at once', { timeout: 300_000 }, async () => {
  const made = await makeImageFolder(dataDir, () => {});
  const lines: string[] = [];
  expect(await makeImageFolder(dataDir, (line) => lines.push(line))).toEqual(made);
  expect(made.id).toBe(await imageId());
  expect(lines).toEqual([]);
});

test('a maker that is killed half-way leaves nothing that is taken for an image', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-image-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const script = `
    import { makeImageFolder } from ${JSON.stringify(join(import.meta.dirname, '../../sandbox/image.ts'))};
    await makeImageFolder(${JSON.stringify(folder)}, (line) => console.log(line));`;
  const maker = spawn(process.execPath, ['--input-type=module', '-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(maker.stdout, 'data');
  process.kill(-(maker.pid ?? 0), 'SIGKILL');
  await once(maker, 'exit');
  const left = await readdir(join(folder, 'sandbox'));
  expect(left).toEqual([expect.stringMatching(/^\.making-/)]);
  await utimes(join(folder, 'sandbox', left[0] ?? ''), 0, 0);
  const [one, two] = await Promise.all([makeImageFolder(folder, () => {}), makeImageFolder(folder, () => {})]);
  expect(one).toEqual(two);
  expect(await readdir(join(folder, 'sandbox'))).toEqual([one.id]);
});
