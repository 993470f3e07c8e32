/** Output as a build leaves it, through the code that writes and reads it, without a framework and a sandbox. */
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { onTestFinished } from 'vitest';
import { add, writeOutput } from '#providers/sandbox/image/runner/output.mjs';
import { openOutput } from '#providers/sandbox/output.ts';
import type { BuildLimits } from '#providers/sandbox/sandbox.ts';
import { roomy } from './fixture.ts';

/** The outcome of a build whose output is a home page and what the code adds: the code of `siteThatWrites`. */
export async function outputOf(code: string, limits: Partial<BuildLimits> = {}) {
  const root = await mkdtemp(join(os.tmpdir(), 'frontage-output-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const dist = join(root, 'dist/');
  fs.mkdirSync(dist);
  fs.writeFileSync(`${dist}index.html`, '<h1>Hello</h1>');
  const servers: net.Server[] = [];
  onTestFinished(() => {
    for (const server of servers) server.close();
  });
  const listening = { ...net, createServer: () => servers[servers.push(net.createServer()) - 1] };
  await new Function('fs', 'net', 'os', 'dist', `return (async () => { ${code} })();`)(fs, listening, os, dist);
  const tar = pack();
  const written = writeOutput(tar, root, new Set())
    .then(
      () => ({ status: 'built', ms: {} }),
      (error: Error) => ({ status: 'failed', message: error.message, outOfMemory: false }),
    )
    .then((verdict) => add(tar, 'verdict.json', JSON.stringify(verdict)));
  written.then(
    () => tar.finalize(),
    (error) => tar.destroy(error),
  );
  const files = new Map<string, Buffer>();
  const onFile = async ({ path, content }: { path: string; content: Readable }) =>
    void files.set(path, await buffer(content));
  const output = openOutput(Readable.from(inPieces(tar as AsyncIterable<Buffer>)), { ...roomy, ...limits });
  const outcome = await output.readFiles({ onFile }).then(
    (verdict) => (verdict.status === 'failed' ? { ...verdict, code: 'build_failed' } : verdict),
    ({ code, message }) => ({ status: 'failed', code, message }),
  );
  output.close();
  tar.destroy();
  await written.catch(() => {});
  return { outcome, files };
}

/** As they come through a pipe. */
async function* inPieces(chunks: AsyncIterable<Buffer>) {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += 65_536) yield chunk.subarray(at, at + 65_536);
}
