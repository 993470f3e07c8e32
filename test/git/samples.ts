import { crc32, deflateSync } from 'node:zlib';

/** The smallest whole file of each format that sites take, and the first bytes of others. */
const u16 = (value: number) => [value >> 8, value & 255];
const u32 = (value: number) => [...u16(Math.floor(value / 65_536)), ...u16(value % 65_536)];
const base64 = (text: string) => Buffer.from(text, 'base64');
const padded = (...parts: (string | number[])[]) =>
  Buffer.concat([
    ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    Buffer.alloc(64),
  ]);

export const png = base64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
);
/** A part of a PNG, with its checksum. */
export const pngPart = (type: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([Buffer.from(u32(data.length)), body, Buffer.from(u32(crc32(body)))]);
};
/** A PNG that says it has this size, with further parts before its end. */
export const pngOf = (width: number, height: number, ...parts: Buffer[]) =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngPart('IHDR', Buffer.from([...u32(width), ...u32(height), 8, 2, 0, 0, 0])),
    ...parts,
    pngPart('IDAT', deflateSync(Buffer.alloc(4))),
    pngPart('IEND', Buffer.alloc(0)),
  ]);
export const gif = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
const joined = (...parts: (string | number[] | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
const u16le = (value: number) => u16(value).reverse();
const u32le = (value: number) => u32(value).reverse();

/** A JPEG that says it has this size. */
export const jpgOf = (width = 1, height = 1, scan = [0x37]) =>
  joined(
    [0xff, 0xd8, 0xff, 0xe0, 0, 16],
    'JFIF\0',
    [1, 1, 0, 0, 1, 0, 1, 0, 0],
    [0xff, 0xc0, 0, 11, 8, ...u16(height), ...u16(width), 1, 1, 0x11, 0],
    [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, ...scan],
    [0xff, 0xd9],
  );
export const jpg = jpgOf();
/** A lossless WebP that says it has this size. */
export const webpOf = (width = 1, height = 1) => {
  const bits = width - 1 + (height - 1) * 16_384;
  const image = joined([0x2f, ...u32le(bits)], Buffer.alloc(5));
  return joined('RIFF', u32le(12 + image.length), 'WEBPVP8L', u32le(image.length), image);
};
export const webp = webpOf();
export const wav = padded('RIFF', [36, 0, 0, 0], 'WAVEfmt ');
const box = (type: string, ...parts: (string | number[] | Buffer)[]) => {
  const content = joined(...parts);
  return joined(u32(content.length + 8), type, content);
};
/** An AVIF that says it has this size. */
export const avifOf = (width = 1, height = 1) =>
  joined(
    box('ftyp', 'avif', u32(0), 'avifmif1miaf'),
    box(
      'meta',
      u32(0),
      box('hdlr', u32(0), u32(0), 'pict', Buffer.alloc(13)),
      box('pitm', u32(0), u16(1)),
      box('iloc', u32(0), u16(0x4400), u16(1), u16(1), u16(0), u16(1), u32(196), u32(3)),
      box('iinf', u32(0), u16(1), box('infe', [2, 0, 0, 0], u16(1), u16(0), 'av01\0')),
      box('iprp', box('ipco', box('ispe', u32(0), u32(width), u32(height)))),
    ),
    box('mdat', [1, 2, 3]),
  );
export const avif = avifOf();
export const heic = padded([0, 0, 0, 24], 'ftypheic', [0, 0, 0, 0], 'mif1heic');
/** A TIFF that says it has this size. */
export const tiffOf = (width = 1, height = 1) => {
  const entry = (tag: number, value: number) => [...u16le(tag), ...u16le(4), ...u32le(1), ...u32le(value)];
  return joined([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0], u16le(2), entry(256, width), entry(257, height), u32le(0));
};
export const tiff = tiffOf();
const font = (signature: string, unfolded = 12) =>
  joined(signature, [0, 1, 0, 0], u32(64), u32(0), u32(unfolded), Buffer.alloc(44));
export const woff2Of = (unfolded: number) => font('wOF2', unfolded);
export const woff2 = font('wOF2');
export const woff = font('wOFF');
const sfnt = (signature: string) =>
  joined(signature, u16(1), [0, 16, 0, 0, 0, 0], 'head', u32(0), u32(28), u32(4), [1, 2, 3, 4]);
export const ttf = sfnt('\0\x01\0\0');
export const otf = sfnt('OTTO');
export const pdf = Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n');
export const zip = padded('PK', [3, 4, 20, 0, 0, 0, 0, 0]);
export const exe = padded('MZ', [0x90, 0]);
export const html = '<!doctype html><script>alert(1)</script>';
export const svg = (inside = '<path d="M0 0h1"/>', root = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"${root}>${inside}</svg>`;
