/** Archives, sound and hostile, as bytes. */
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

export type TarEntry = Partial<Header> & { name: string; content?: string | Buffer };

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  const bytes = buffer(tar);
  for (const { content = '', ...header } of entries) {
    const isFile = (header.type ?? 'file') === 'file';
    tar.entry({ mode: 0o644, ...header } as Header, isFile ? Buffer.from(content) : '');
  }
  tar.finalize();
  return await bytes;
}

export type ZipEntry = {
  name: string | Buffer;
  content?: string | Buffer;
  /** File type of Unix, such as 0o120000 for a link. */
  type?: number;
  stored?: boolean;
  /** What its own header or the list says in place of the truth. */
  local?: Partial<ZipFields>;
  listed?: Partial<ZipFields>;
};
type ZipFields = { name: Buffer; method: number; flags: number; crc: number; packed: number; size: number };

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const { name, content = '', type = 0o100000, stored = false, local = {}, listed = {} } of entries) {
    const bytes = Buffer.from(content);
    const data = stored ? bytes : deflateRawSync(bytes);
    const truth = { name: Buffer.from(name), method: stored ? 0 : 8, flags: 0x800, crc: crc32(bytes) };
    const fields = { ...truth, packed: data.length, size: bytes.length };
    list.push(listHeader({ ...fields, ...listed }, type, at));
    parts.push(localHeader({ ...fields, ...local }), data);
    at = parts.reduce((sum, { length }) => sum + length, 0);
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}

function localHeader({ name, method, flags, crc, packed, size }: ZipFields): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(packed, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

function listHeader({ name, method, flags, crc, packed, size }: ZipFields, type: number, at: number): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE((3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(packed, 20);
  header.writeUInt32LE(size, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt32LE(((type | 0o644) << 16) >>> 0, 38);
  header.writeUInt32LE(at, 42);
  return Buffer.concat([header, name]);
}
