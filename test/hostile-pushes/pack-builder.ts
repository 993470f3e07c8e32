/** Packs written byte by byte (gitformat-pack(5)): objects that no git command would write, or not in reasonable time. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

const kinds = { commit: 1, tree: 2, blob: 3, tag: 4, refDelta: 7 } as const;
type Kind = keyof typeof kinds;

/** One object: type and size in a header of 4 and then 7 bits, the base, the deflated bytes. */
export function packed(kind: Kind, bytes: Buffer, base?: string): Buffer {
  const header: number[] = [];
  let rest = Math.floor(bytes.length / 16);
  header.push((kinds[kind] << 4) | (bytes.length % 16) | (rest > 0 ? 0x80 : 0));
  for (; rest > 0; rest = Math.floor(rest / 128)) header.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
  return Buffer.concat([Buffer.from(header), Buffer.from(base ?? '', 'hex'), deflateSync(bytes)]);
}

export function pack(objects: readonly Buffer[], count = objects.length): Buffer {
  const head = Buffer.alloc(12, 'PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...objects]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))];
}

/** A delta's instruction to copy from its base. */
export function copying(at: number, length: number): number[] {
  return [0xff, ...[at, at >>> 8, at >>> 16, at >>> 24, length, length >>> 8, length >>> 16].map((byte) => byte & 255)];
}

const hashed = (kind: Kind, bytes: Buffer) =>
  createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex');

export type Entry = { name: string; oid: string; mode?: string };
export const folderMode = '40000';
const who = 'Bo <bo@example.com> 1795219200 +0000';

/** Collects objects. Each method returns the id. */
export function packBuilder() {
  const objects: Buffer[] = [];
  const seen = new Set<string>();
  function add(kind: Kind, bytes: Buffer): string {
    const oid = hashed(kind, bytes);
    if (!seen.has(oid)) objects.push(packed(kind, bytes));
    seen.add(oid);
    return oid;
  }
  function rawTree(entries: readonly Entry[]): Buffer {
    const keyed = entries.map((entry) => ({
      ...entry,
      key: Buffer.from(entry.mode === folderMode ? `${entry.name}/` : entry.name),
    }));
    const sorted = keyed.sort((a, b) => Buffer.compare(a.key, b.key));
    const parts = sorted.flatMap(({ name, oid, mode = '100644' }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]);
    return Buffer.concat(parts);
  }
  const commitText = (tree: string, parents: readonly string[], message: string, author: string) =>
    `tree ${tree}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author ${author}\ncommitter ${who}\n\n${message}\n`;
  return {
    objects,
    add,
    rawTree,
    blob: (bytes: string | Buffer) => add('blob', Buffer.from(bytes as string)),
    tree: (entries: readonly Entry[]) => add('tree', rawTree(entries)),
    commit: (tree: string, parents: readonly string[], message = 'Change', author = who) =>
      add('commit', Buffer.from(commitText(tree, parents, message, author))),
    /** An object as a delta of another one; `result` are its bytes. */
    delta(kind: Kind, base: string, baseBytes: number, ops: readonly number[], result: Buffer): string {
      const bytes = Buffer.from([...varint(baseBytes), ...varint(result.length), ...ops]);
      objects.push(packed('refDelta', bytes, base));
      return hashed(kind, result);
    },
    bytes: () => pack(objects),
  };
}
export type PackBuilder = ReturnType<typeof packBuilder>;
