/** Header compression (RFC 7541). Requests are decoded with a dynamic table; responses are encoded without one, so that they can be cached. */
import { STATUS_CODES } from 'node:http';
import type { Head } from '#edge/http/http1-head.ts';
import { decodeHuffman } from './huffman.ts';
import { staticFields } from './static-fields.ts';

export type Field = {
  name: string;
  value: string;
  /** Whether name and value are allowed (RFC 9113 section 8.2.1). */
  isValid: boolean;
};

/** The block cannot be decoded, and so no block after it on the connection. */
export class CompressionFault extends Error {}

/** A longer block is refused before it is decoded. */
export const blockBytesMax = 32 * 1024;
/** The default of SETTINGS_HEADER_TABLE_SIZE, which we do not change. */
const tableBytesMax = 4_096;
const nothing = Buffer.alloc(0);
const scratch = Buffer.allocUnsafe((blockBytesMax * 8) / 5);

const validName = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;
const validValue = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

function fieldOf(name: string, value: string): Field {
  return { name, value, isValid: validName.test(name) && validValue.test(value) };
}

/** Of the dynamic table (RFC 7541 section 4.1), and of SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 section 6.5.2). */
export function bytesOf({ name, value }: Field): number {
  return name.length + value.length + 32;
}

const known = Array.from({ length: staticFields.length / 2 }, (_, n) =>
  fieldOf(staticFields[2 * n] as string, staticFields[2 * n + 1] as string),
);

/** Fields that the client has added, newest last. */
function createDynamicTable() {
  const fields: Field[] = [];
  let bytes = 0;
  let bytesMax = tableBytesMax;

  function evict(): void {
    while (bytes > bytesMax) bytes -= bytesOf(fields.shift() as Field);
  }

  return {
    /** Indexes start at 1, after those of the static table. */
    at: (index: number) => fields[fields.length - index],
    add(field: Field): void {
      fields.push(field);
      bytes += bytesOf(field);
      evict();
    },
    resize(wanted: number): void {
      if (wanted > tableBytesMax) throw new CompressionFault('the dynamic table would be too large');
      bytesMax = wanted;
      evict();
    },
  };
}

/** Reads integers and strings of the block that it is set to. */
function createReader() {
  let block: Buffer = nothing;
  let at = 0;

  function readByte(): number {
    const byte = block[at++];
    if (byte === undefined) throw new CompressionFault('the block ends within a field');
    return byte;
  }

  /** RFC 7541 section 5.1. `mask` selects the bits of the first byte. */
  function readInteger(first: number, mask: number): number {
    let value = first & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = readByte();
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new CompressionFault('an integer is too large');
  }

  return {
    set(next: Buffer): void {
      block = next;
      at = 0;
    },
    hasMore: () => at < block.length,
    readByte,
    readInteger,
    readString(): string {
      const first = readByte();
      const length = readInteger(first, 127);
      const start = at;
      at += length;
      if (at > block.length) throw new CompressionFault('the block ends within a string');
      const text = first < 128 ? block.toString('latin1', start, at) : decodeHuffman(block, start, at, scratch);
      if (text === undefined) throw new CompressionFault('a string is not a Huffman code');
      return text;
    },
  };
}

type Decode = (block: Buffer) => Field[];

/** Decodes the blocks of one connection in their order, each at most `blockBytesMax` long. Throws CompressionFault. */
export function createDecoder(): Decode {
  const table = createDynamicTable();
  const reader = createReader();

  function fieldAt(index: number): Field {
    const field = index > known.length ? table.at(index - known.length) : known[index - 1];
    if (!field) throw new CompressionFault('a field has no such index');
    return field;
  }

  function readLiteral(first: number, isAdded: boolean): Field {
    const index = reader.readInteger(first, isAdded ? 0x3f : 0x0f);
    const name = index === 0 ? reader.readString() : fieldAt(index).name;
    const field = fieldOf(name, reader.readString());
    if (isAdded) table.add(field);
    return field;
  }

  return (block) => {
    reader.set(block);
    const fields: Field[] = [];
    while (reader.hasMore()) {
      const first = reader.readByte();
      if (first >= 0x80) fields.push(fieldAt(reader.readInteger(first, 0x7f)));
      else if (first >= 0x40 || first < 0x20) fields.push(readLiteral(first, first >= 0x40));
      else if (fields.length > 0) throw new CompressionFault('the table is resized within a block');
      else table.resize(reader.readInteger(first, 0x1f));
    }
    // The rest of its chunk would stay in memory.
    reader.set(nothing);
    return fields;
  };
}

const statusIndexes = new Map(
  known.flatMap(({ name, value }, n) => (name === ':status' ? [[value, n + 1]] : [])) as [string, number][],
);
const nameIndexes = new Map(known.map(({ name }, n) => [name, n + 1] as const).reverse());

/** The block of a response's head. Throws if a value is not allowed. */
export function encodeHead({ status, fields }: Head): Buffer {
  if (STATUS_CODES[status] === undefined) throw new Error(`invalid status ${status}`);
  const index = statusIndexes.get(String(status));
  const parts = [index === undefined ? encodeField(':status', String(status)) : Buffer.of(0x80 | index)];
  for (let i = 0; i + 1 < fields.length; i += 2) parts.push(encodeField(fields[i] as string, fields[i + 1] as string));
  const whole = Buffer.concat(parts);
  // A part of Node's pool would keep all of it in memory as long as the head is cached.
  const own = Buffer.allocUnsafeSlow(whole.length);
  whole.copy(own);
  return own;
}

/** A literal that is not added to the client's table (RFC 7541 section 6.2.2). */
export function encodeField(name: string, value: string): Buffer {
  const lower = name.toLowerCase();
  if (!validName.test(lower) || !validValue.test(value)) throw new Error(`invalid value of header field ${name}`);
  const index = nameIndexes.get(lower);
  const start = index === undefined ? [Buffer.of(0), ...encodeText(lower)] : [encodeInteger(index, 0x0f)];
  return Buffer.concat([...start, ...encodeText(value)]);
}

function encodeText(text: string): Buffer[] {
  return [encodeInteger(text.length, 0x7f), Buffer.from(text, 'latin1')];
}

/** In the lower bits of the first byte that `mask` selects, and as many more as it needs. */
function encodeInteger(value: number, mask: number): Buffer {
  if (value < mask) return Buffer.of(value);
  const bytes = [mask];
  let rest = value - mask;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.of(...bytes, rest);
}
