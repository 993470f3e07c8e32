/** The rules of formats by themselves: which bytes a folder accepts, and the words of a refusal. */
import { expect, test } from 'vitest';
import { checkContent } from '#git/rules.ts';
import * as sample from '#test/git/samples.ts';
import { corpus, whole } from './corpus.ts';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('the corpus is large, without duplicates', () => {
  expect(corpus.length).toBeGreaterThan(300);
  expect(new Set(corpus.map(({ is }) => is)).size).toBe(corpus.length);
});

test.each(Object.entries(whole))('a complete file of each format is accepted: %s', async (name, bytes) => {
  const path = name.startsWith('public/') ? name : `src/assets/${name}`;
  for (const size of [1, 7, 65_536]) expect(await checkContent('source', path, inPieces(bytes, size))).toBeUndefined();
});

test('every file of the corpus is refused, in whatever pieces it arrives', async () => {
  const taken: string[] = [];
  for (const { is, path, bytes } of corpus) {
    const verdicts = [];
    for (const size of [bytes.length > 10_000 ? 4096 : 1, 65_536]) {
      const verdict = await checkContent('source', path, inPieces(bytes, size));
      verdicts.push(verdict?.code);
    }
    if (!verdicts.every((code) => code === 'format_not_allowed' || code === 'invalid_file'))
      taken.push(`${is}: ${verdicts}`);
    if (verdicts[0] !== verdicts[1]) taken.push(`${is}: in pieces ${verdicts[0]}, whole ${verdicts[1]}`);
  }
  expect(taken).toEqual([]);
});

const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
/** A WebP of one part. */
const webpWith = (type: string, data: number[]) => {
  const part = [data.length, 0, 0, 0, ...data, ...(data.length % 2 ? [0] : [])];
  return bytesOf('RIFF', [8 + part.length, 0, 0, 0], `WEBP${type}`, part);
};

test.each([
  ['a JPEG with restart markers', 'a.jpg', sample.jpgOf(1, 1, [0x37, 1, 1, 0xff, 0, 0xff, 0xd0, 1, 0xff, 0xd7, 1])],
  ['the smallest lossless WebP', 'a.webp', webpWith('VP8L', [0x2f, 0, 0, 0, 0])],
  ['a font that is padded to four bytes', 'a.ttf', Buffer.concat([sample.ttf, Buffer.alloc(3)])],
])('%s is accepted', async (_what, name, bytes) => {
  for (const size of [1, 7, 65_536])
    expect(await checkContent('source', `src/assets/${name}`, inPieces(bytes, size))).toBeUndefined();
});

test.each([
  ['a JPEG with half a marker', 'a.jpg', jpgWith(), /not a complete JPEG/],
  ['a JPEG with a wrong marker', 'a.jpg', jpgWith(0), /not a complete JPEG/],
  ['a WebP with half a header', 'a.webp', webpWith('VP8X', [0, 0, 0, 0, 0, 0]), /not a complete WebP/],
  ['a WebP with less than a lossless header', 'a.webp', webpWith('VP8L', [0x2f, 0, 0]), /not a complete WebP/],
  ['a font with zeros behind it', 'a.ttf', Buffer.concat([sample.ttf, Buffer.alloc(5)]), /another file after the font/],
  ['an AVIF with a large first image', 'a.avif', twoImages(100_000, 1), /decode to 100000 × 100000 pixels/],
  ['an AVIF with a large second image', 'a.avif', twoImages(1, 100_000), /decode to 100000 × 100000 pixels/],
  ['a truncated PNG', 'a.png', sample.png.subarray(0, 40), /its contents end unexpectedly: the file is truncated/],
  ['a truncated PDF', 'a.pdf', sample.pdf.subarray(0, 30), /its contents end unexpectedly/],
  ['a PDF with a script', 'a.pdf', bytesOf('%PDF-1.7\n/S /JavaScript\n%%EOF'), /is opened \(\/JavaScript\)/],
  ['a text with a wrong byte', 'a.md', bytesOf('a', [0xff]), /are not UTF-8 text/],
  ['a text with a zero', 'a.csv', bytesOf('a\0b'), /are not UTF-8 text/],
])('%s is refused with the reason', async (_what, name, bytes, words) => {
  const repository = /\.(md|csv)$/.test(name) ? 'content' : 'source';
  const folder = { content: '', source: name.endsWith('.pdf') ? 'public/' : 'src/assets/' }[repository];
  expect((await checkContent(repository, folder + name, inPieces(bytes, 7)))?.what).toMatch(words);
});

test('a large animation is refused with the number of its frames', async () => {
  const animation = corpus.find(({ is }) => is === 'a GIF of a thousand large frames');
  const { path, bytes } = animation as (typeof corpus)[number];
  const what = (await checkContent('source', path, inPieces(bytes, 4096)))?.what;
  expect(what).toContain('2000 × 2000 pixels, 1000 times,');
});

/** Other bytes in place of the first one of the scan's marker. */
function jpgWith(...bytes: number[]): Buffer {
  const scan = sample.jpg.indexOf(Buffer.from([0xff, 0xda]));
  return Buffer.concat([sample.jpg.subarray(0, scan), Buffer.from(bytes), sample.jpg.subarray(scan + 1)]);
}

function twoImages(first: number, second: number): Buffer {
  return Buffer.concat([first, second].map((size) => sample.avifOf(size, size)));
}
