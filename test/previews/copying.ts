/** A sandbox that copies the source to the output, file by file. test/sandbox tests the real ones. */

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { BuildOutcome, BuildRequest, Sandbox } from '#providers/sandbox/sandbox.ts';

/** A page of this name in the source fails the build. */
export const brokenPage = 'src/pages/broken.html';

export function createCopying() {
  let gate: Promise<void> | undefined;
  const sandbox = {
    kind: 'docker',
    image: 'copying',
    /** How many builds there were. */
    builds: 0,
    async build({ source, signal, onLog, onFile, onBuilt }: BuildRequest): Promise<BuildOutcome> {
      sandbox.builds += 1;
      const stopped = new Promise<never>((_, stop) => {
        signal.addEventListener('abort', () => stop(signal.reason));
      });
      stopped.catch(() => {});
      if (gate) await Promise.race([gate, stopped]);
      const files = new Map<string, Buffer>();
      for await (const entry of source.pipe(extract())) files.set(entry.header.name, await buffer(entry));
      onLog('copying\n');
      if (files.has(brokenPage)) return { status: 'failed', code: 'build_failed', message: 'A page is broken.' };
      for (const [name, bytes] of files) {
        const path = name.replace(/^public\//, '');
        await onFile({ path, bytes: bytes.length, content: Readable.from([bytes], { objectMode: false }) });
      }
      await onBuilt?.({});
      return { status: 'built' };
    },
    removeOrphanBuilds: async () => 0,
    close: async () => {},
  } satisfies Sandbox & Record<string, unknown>;
  return {
    sandbox,
    /** Holds all builds until the answered function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
  };
}
