/** Packs that are small on the wire, and large or slow to unpack. */
import { createHash } from 'node:crypto';
import { copying, pack as join, type PackBuilder, packed, varint } from './pack-builder.ts';
import { accepted, copies, type HostileRepository, range, stopped } from './repository.ts';

const mebibyte = 1_048_576;
const either = new RegExp(`${accepted.source}|${stopped.source}`);
const good = (pack: PackBuilder) => pack.tree([{ name: 'a.txt', oid: pack.blob('a') }]);
/** Objects to which no commit refers, and a good commit. */
const beside = (what: string, says: RegExp, build: (pack: PackBuilder) => void, brief?: true): HostileRepository => ({
  what,
  says,
  build(pack, head) {
    build(pack);
    return pack.commit(good(pack), [head]);
  },
  ...(brief ? { brief } : {}),
});
const zeros = (bytes: number, first = 0) => {
  const all = Buffer.alloc(bytes);
  all.writeUInt32BE(first);
  return all;
};

function idOfZeros(size: number): string {
  const hash = createHash('sha1').update(`blob ${size}\0`);
  for (let left = size; left > 0; left -= 4 * mebibyte) hash.update(Buffer.alloc(Math.min(left, 4 * mebibyte)));
  return hash.digest('hex');
}

/** Each object is the one before it with another number at its end: a delta of a copy and an insertion. */
function chain(pack: PackBuilder, kind: 'blob' | 'tree', base: Buffer, length: number, change: (at: number) => Buffer) {
  let oid = pack.add(kind, base);
  for (const at of range(length)) {
    const end = change(at);
    const kept = base.length - end.length;
    const result = Buffer.concat([base.subarray(0, kept), end]);
    oid = pack.delta(kind, oid, base.length, [...copying(0, kept), end.length, ...end], result);
  }
  return oid;
}
const number = (at: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(at + 1);
  return bytes;
};

export const hostilePacks: HostileRepository[] = [
  beside('a file that inflates to 1 GB', stopped, (pack) => void pack.blob(Buffer.alloc(1024 * mebibyte))),
  beside('100 files that inflate to 9 MB', stopped, (pack) =>
    range(100).forEach((at) => void pack.blob(zeros(9 * mebibyte, at))),
  ),
  beside('2,000 files that inflate to 1 MB', stopped, (pack) =>
    range(2000).forEach((at) => void pack.blob(zeros(mebibyte, at))),
  ),
  beside(
    'a tree that inflates to 400 MB',
    stopped,
    (pack) => void pack.add('tree', Buffer.alloc(400 * mebibyte, '100644 a\0')),
  ),
  beside(
    'a commit whose header is 300 MB long',
    stopped,
    (pack) => void pack.add('commit', Buffer.alloc(300 * mebibyte, `parent ${'1'.repeat(40)}\n`)),
  ),
  beside('deltas that double a file to 512 MB', stopped, (pack) => {
    let size = 4 * mebibyte;
    pack.blob(Buffer.alloc(size));
    for (; size < 512 * mebibyte; size *= 2) {
      const once = range(Math.ceil(size / (8 * mebibyte))).flatMap((part) =>
        copying(part * 8 * mebibyte, Math.min(size, 8 * mebibyte)),
      );
      const delta = Buffer.from([...varint(size), ...varint(2 * size), ...once, ...once]);
      pack.objects.push(packed('refDelta', delta, idOfZeros(size)));
    }
  }),
  beside('a chain of 30,000 deltas', stopped, (pack) => void chain(pack, 'blob', zeros(64), 30_000, number), true),
  beside(
    'a chain of 4,000 deltas of a file of 250 KB',
    stopped,
    (pack) => void chain(pack, 'blob', zeros(256_000), 4000, number),
  ),
  {
    what: 'a chain of 1,500 deltas of a folder of 300 KB',
    says: either,
    build(pack, head) {
      const base = pack.rawTree(copies(pack.blob('x'), 9000));
      const files = range(1500).map((at) => Buffer.from(pack.blob(`${at}`), 'hex'));
      return pack.commit(
        chain(pack, 'tree', base, 1500, (at) => files[at] ?? Buffer.alloc(20)),
        [head],
      );
    },
  },
  beside('300,000 tiny files', either, (pack) => range(300_000).forEach((at) => void pack.blob(`${at}`))),
  beside('100,000 tiny folders', either, (pack) => {
    const oid = pack.blob('x');
    for (const at of range(100_000)) pack.tree([{ name: `${at}`, oid }]);
  }),
  beside('one object 100,000 times', either, (pack) => {
    const one = packed('blob', Buffer.from('again'));
    for (const _ of range(100_000)) pack.objects.push(one);
  }),
  beside('10,000 deltas without their base', /unpack (?!ok)/, (pack) =>
    range(10_000).forEach(
      (at) =>
        void pack.delta('blob', createHash('sha1').update(`${at}`).digest('hex'), 64, copying(0, 64), zeros(64, at)),
    ),
  ),
  {
    what: 'a pack that announces four billion objects',
    says: /unpack (?!ok)|computing time or memory/,
    build: () => ({
      pack: join([packed('blob', Buffer.from('x'))], 0xffff_ffff),
      tips: { 'refs/heads/main': '1'.repeat(40) },
    }),
    brief: true,
  },
  {
    what: 'a pack that ends in the middle of an object',
    says: /unpack (?!ok)/,
    build(pack) {
      const oid = pack.blob(Buffer.alloc(mebibyte, 'frontage'));
      return { pack: pack.bytes().subarray(0, -500), tips: { 'refs/heads/main': oid } };
    },
  },
];
