/** The first bytes of each format, as far as anyone looks to know it. */
const base64 = (text: string) => Buffer.from(text, 'base64');
const padded = (...parts: (string | number[])[]) =>
  Buffer.concat([
    ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    Buffer.alloc(64),
  ]);

export const png = base64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
);
export const gif = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
export const jpg = padded([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF\0');
export const webp = padded('RIFF', [36, 0, 0, 0], 'WEBPVP8 ');
export const wav = padded('RIFF', [36, 0, 0, 0], 'WAVEfmt ');
export const avif = padded([0, 0, 0, 28], 'ftypavif', [0, 0, 0, 0], 'avifmif1miaf');
export const heic = padded([0, 0, 0, 24], 'ftypheic', [0, 0, 0, 0], 'mif1heic');
export const tiff = padded([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 0, 0]);
export const woff2 = padded('wOF2', [0, 1, 0, 0]);
export const woff = padded('wOFF', [0, 1, 0, 0]);
export const ttf = padded([0, 1, 0, 0, 0, 4]);
export const otf = padded('OTTO\0');
export const pdf = padded('%PDF-1.7\n');
export const zip = padded('PK', [3, 4, 20, 0, 0, 0, 0, 0]);
export const exe = padded('MZ', [0x90, 0]);
export const html = '<!doctype html><script>alert(1)</script>';
export const svg = (inside = '<path d="M0 0h1"/>', root = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"${root}>${inside}</svg>`;
