/** Reads objects of a repository by their ids, all through one `git cat-file` (git-cat-file(1), `--batch-command`). */
import type { SpawnedProcess } from '#providers/spawn-helper.ts';
import { assertSha, failure, type Place, spawnGit } from './git.ts';

/** The type is undefined if the repository does not have the object. */
export type ObjectInfo = { oid: string; type: string | undefined; bytes: number };

/** An object's content, streamed from git. It must be read before the next one; unread bytes are skipped. */
export type StreamedObject = ObjectInfo & { content: AsyncIterable<Buffer> };

/** One of its calls runs at a time. */
export type ObjectReader = {
  infos(oids: readonly string[]): AsyncGenerator<ObjectInfo>;
  contents(oids: readonly string[]): AsyncGenerator<StreamedObject>;
  /** Small objects as a whole. Throws OversizedObject. After an early end of the iteration only disposal is possible. */
  wholes(oids: readonly string[], bytesMax: number): AsyncGenerator<ObjectInfo & { data: Buffer }>;
  /** Ends the process. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** An object is larger than its reader accepts. */
export class OversizedObject extends Error {}

// git queues the requests of a batch: this bounds its memory and ours.
const batchMax = 500;

/** Starts the process. The caller must dispose of it. */
export async function openObjects(place: Place): Promise<ObjectReader> {
  const child = await spawnGit(place, ['cat-file', '--batch-command', '--buffer']);
  const source = createByteReader(child);
  function ask(command: string, oids: readonly string[]): void {
    for (const oid of oids) assertSha(oid);
    child.stdin.write(`${oids.map((oid) => `${command} ${oid}\n`).join('')}flush\n`);
  }
  return {
    async *infos(oids) {
      for (const batch of batches(oids)) {
        ask('info', batch);
        for (const oid of batch) yield parseInfo(oid, await source.line());
      }
    },
    async *contents(oids) {
      for (const batch of batches(oids)) {
        ask('contents', batch);
        for (const oid of batch) {
          const info = parseInfo(oid, await source.line());
          const content = source.take(info.bytes);
          yield { ...info, content };
          // Skips what the consumer did not read before the next header.
          for await (const _ of content);
          if (info.type !== undefined) await source.skip(1);
        }
      }
    },
    async *wholes(oids, bytesMax) {
      for (const batch of batches(oids)) {
        ask('contents', batch);
        for (const oid of batch) {
          const info = parseInfo(oid, await source.line());
          if (info.type === undefined) throw new Error(`object ${oid} is not in this repository`);
          if (info.bytes > bytesMax) throw new OversizedObject(`object ${oid} has ${info.bytes} bytes`);
          // With the line break behind it.
          const data = await source.whole(info.bytes + 1);
          yield { ...info, data: data.subarray(0, -1) };
        }
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await source.close();
    },
  };
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += batchMax) yield items.slice(at, at + batchMax);
}

function parseInfo(oid: string, line: string): ObjectInfo {
  const [, type, bytes = ''] = line.split(' ');
  return bytes === '' ? { oid, type: undefined, bytes: 0 } : { oid, type, bytes: Number(bytes) };
}

/** The whole content, for objects known to be small. */
export async function bytesOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** Reads lines and counted bytes from git's output. */
function createByteReader(child: SpawnedProcess) {
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const next = await chunks.next();
    if (next.done) throw failure('cat-file', await child.exited);
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
  }
  async function some(bytesMax: number): Promise<Buffer> {
    if (rest.length === 0) await more();
    const chunk = rest.subarray(0, bytesMax);
    rest = rest.subarray(chunk.length);
    return chunk;
  }
  return {
    async line(): Promise<string> {
      for (;;) {
        const end = rest.indexOf(10);
        if (end !== -1) return (await some(end + 1)).toString('utf8', 0, end);
        await more();
      }
    },
    async whole(bytes: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      let missing = bytes;
      while (missing > 0) {
        const part = await some(missing);
        if (part.length === bytes) return part;
        parts.push(part);
        missing -= part.length;
      }
      return Buffer.concat(parts);
    },
    async skip(bytes: number): Promise<void> {
      for (let left = bytes; left > 0; ) left -= (await some(left)).length;
    },
    /** The next `bytes` bytes. A second iteration continues where the first stopped. */
    take(bytes: number): AsyncIterable<Buffer> {
      let left = bytes;
      return {
        async *[Symbol.asyncIterator]() {
          while (left > 0) {
            const chunk = await some(left);
            left -= chunk.length;
            yield chunk;
          }
        },
      };
    },
    close: () => chunks.return?.(),
  };
}
