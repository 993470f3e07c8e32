/** An engine that has lost track of a container responds to everything but its removal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { expect, onTestFinished, test } from 'vitest';
import { openDockerSandbox } from '#providers/sandbox/docker.ts';
import { build, dataDir, engine, newOwner, site } from './fixture.ts';

/** A socket that hands all on to the engine, but for removals: those are taken and never answered. */
async function openDeafEngine(sound: Docker): Promise<Docker> {
  const { socketPath } = sound.modem as unknown as { socketPath: string };
  const folder = await mkdtemp(join(tmpdir(), 'frontage-deaf-'));
  const path = join(folder, 'engine.sock');
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    caller.on('error', () => {});
    caller.once('data', (first) => {
      if (String(first).startsWith('DELETE ')) return caller.resume();
      const real = connect({ path: socketPath, allowHalfOpen: true }).on('error', () => caller.destroy());
      real.write(first);
      caller.pipe(real).pipe(caller);
    });
  });
  await new Promise<void>((ready) => server.listen(path, ready));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return new Docker({ socketPath: path });
}

test('a build keeps its outcome even if its container is removed only later', {
  tags: 'docker',
  timeout: 180_000,
}, async () => {
  const owner = newOwner();
  const options = { dataDir, owner, onProgress: () => {} };
  if (!engine) throw new Error('no engine');
  const deaf = await openDockerSandbox({ ...options, docker: await openDeafEngine(engine) });
  const { outcome, files } = await build(deaf, site());
  expect({ outcome, pages: [...files.keys()] }).toEqual({ outcome: { status: 'built' }, pages: ['index.html'] });
  if (!engine) throw new Error('no engine');
  const sound = await openDockerSandbox({ ...options, docker: engine });
  expect(await sound.removeOrphanBuilds(async () => false)).toBe(1);
});
