/** Photos lose location and camera data. The campaign `photos` sends 200 of them on each way. */
import { expect, test } from 'vitest';
import { applyPlan, planPhoto } from '#git/rules/photos.ts';
import { checkContent } from '#git/rules.ts';
import * as sample from '#test/git/samples.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { cameras } from './cameras.ts';
import { corpus } from './corpus.ts';
import { formats, jpgWith, type Photograph, photographs } from './photographs.ts';
import { openDecoder } from './pixels.ts';
import { openWays, tracesIn } from './ways.ts';

const photos = photographs();

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The stored bytes; undefined for a photo that is refused. */
async function stored(bytes: Buffer, size = 65_536): Promise<Buffer | undefined> {
  const read = () => inChunks(bytes, size);
  const plan = await planPhoto(read);
  if (plan === 'unreadable') return undefined;
  const kept: Buffer[] = [];
  for await (const chunk of applyPlan(read, plan ?? [{ from: 0, to: bytes.length }])) kept.push(chunk);
  return Buffer.concat(kept);
}
const storedPhoto = async ({ bytes }: Photograph) => (await stored(bytes)) as Buffer;

test('200 photos of 12 cameras lose location and camera data', async () => {
  expect([photos.length, new Set(photos.map(({ secrets: [make] }) => String(make))).size]).toEqual([200, 12]);
  for (const format of formats) expect(photos.filter((photo) => photo.format === format)).toHaveLength(50);
  const traces: string[] = [];
  for (const photo of photos) {
    expect(tracesIn(photo.bytes, photo), photo.name).not.toEqual([]);
    expect(await checkContent('source', `src/assets/${photo.name}`, inChunks(photo.bytes, 512)), photo.name).toBe(
      undefined,
    );
    const bytes = await storedPhoto(photo);
    traces.push(...tracesIn(bytes, photo).map((trace) => `${photo.name}: ${trace}`));
    expect(await stored(bytes), photo.name).toEqual(bytes);
    expect(await stored(photo.bytes, 7), photo.name).toEqual(bytes);
    expect(await checkContent('source', `src/assets/${photo.name}`, inChunks(bytes, 512)), photo.name).toBe(undefined);
  }
  expect(traces).toEqual([]);
});

test('a browser shows the same pixels, turned in the same way', { tags: 'chromium' }, async () => {
  const decoder = await openDecoder();
  try {
    const before = await decoder.decode(photos.map(({ bytes }) => bytes));
    const after = await decoder.decode(await Promise.all(photos.map(storedPhoto)));
    for (const [index, photo] of photos.entries()) expect(after[index], photo.name).toEqual(before[index]);
    expect(new Set(before.map(({ width, pixels }) => `${width} ${pixels}`)).size).toBeGreaterThan(10);
  } finally {
    await decoder.close();
  }
});

test('photos lose their metadata on each way in', async () => {
  const ways = await openWays();
  try {
    const some = photos.filter((_photo, index) => index % 29 === 0);
    expect(new Set(some.map(({ format }) => format)).size).toBe(formats.length);
    for (const { photo, way, bytes } of await ways.send(some)) {
      expect(bytes, `${photo.name} by ${way}`).toEqual(await storedPhoto(photo));
      expect(tracesIn(bytes, photo)).toEqual([]);
    }
  } finally {
    await ways.close();
  }
});

test('cut and changed photos end in an answer, soon and without an exception', async () => {
  const chance = numbersFrom(7);
  for (const photo of photos.slice(0, cameras.length)) {
    for (let cut = 0; cut < photo.bytes.length; cut += 61) await stored(photo.bytes.subarray(0, cut));
    for (let round = 0; round < 40; round++) {
      const bytes = Buffer.from(photo.bytes);
      for (let flips = 0; flips < 3; flips++) bytes[Math.floor(chance() * bytes.length)] = Math.floor(chance() * 256);
      await stored(bytes);
    }
  }
  for (const { bytes } of corpus) await stored(bytes);
});

const avif = photos.find(({ format }) => format === 'avif') as Photograph;
const webp = photos.find(({ format }) => format === 'webp') as Photograph;
const raw = (text: string) => Buffer.from(text, 'latin1');

/** The AVIF with other bytes at an offset from the first occurrence of a name. */
function changed(name: string, offset: number, ...values: number[]): Buffer {
  const bytes = Buffer.from(avif.bytes);
  Buffer.from(values).copy(bytes, bytes.indexOf(name) + offset);
  return bytes;
}

/** Boxes inside each other: as many as a file of this size has. */
function nested(count: number): Buffer {
  const boxes = Buffer.alloc(count * 8);
  for (let index = 0; index < count; index++) {
    boxes.writeUInt32BE((count - index) * 8, index * 8);
    boxes.write(index === 0 ? 'moov' : 'trak', index * 8 + 4, 'latin1');
  }
  return Buffer.concat([avif.bytes, boxes]);
}

test.each([
  ['an AVIF whose picture and EXIF data overlap', changed('iloc', 38, 0xff, 0xff)],
  ['an AVIF with an item that reaches to the end', changed('iloc', 36, 0, 0, 0, 0)],
  ['an AVIF with more extents than bytes', changed('iloc', 44, 0xff, 0xff)],
  ['an AVIF whose picture is of another format', changed('av01', 0, ...raw('hvc1'))],
  ['an AVIF whose boxes are nested 100,000 times', nested(100_000)],
  ['an AVIF of 100,000 boxes', Buffer.concat([avif.bytes, ...Array(100_000).fill(raw('\0\0\0\x08free'))])],
  ['a JPEG of 100,000 segments', jpgWith(...Array(100_000).fill(Buffer.from([0xff, 0xe1, 0, 2, 0xff, 0xc4, 0, 2])))],
  ['a PNG that ends in its EXIF data', sample.pngOf(1, 1, Buffer.from([0xff, 0xff, 0xff, 0, ...raw('eXIf')]))],
])('%s is refused', async (_what, bytes) => {
  expect((await stored(bytes)) === undefined).toBe(true);
});

test('a photo is refused in any folder if its metadata cannot be found', async () => {
  const ways = await openWays();
  try {
    const { owner } = ways;
    const changes = [{ path: 'src/pages/a.avif', base64: changed('av01', 0, ...raw('hvc1')).toString('base64') }];
    const answer = await owner.call('POST', `/v1/sites/${owner.siteId}/commits`, { body: { message: 'Add', changes } });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_file']);
    expect(answer.body.error.message).toContain('src/pages/a.avif contains metadata that cannot be removed safely');
    const broken = await ways.material.put(owner, owner.siteId, 'src/assets/a.avif', changed('iloc', 38, 0xff, 0xff));
    expect([broken.status, broken.body.error.code]).toEqual([400, 'invalid_file']);
  } finally {
    await ways.close();
  }
});

test('metadata inside the frames of an animation is removed', async () => {
  const chunk = (type: string, data: Buffer) => {
    const head = raw(`${type}\0\0\0\0`);
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const image = (await storedPhoto(webp)).subarray(30, 30 + 114);
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(16), image, chunk('EXIF', webp.bytes.subarray(-400))]));
  const content = Buffer.concat([raw('WEBP'), chunk('VP8X', Buffer.from([2, 0, 0, 0, 23, 0, 0, 15, 0, 0])), frame]);
  const bytes = (await stored(chunk('RIFF', content))) as Buffer;
  expect(tracesIn(bytes, webp)).toEqual([]);
  expect(bytes.length).toBe(content.length + 8 - 408);
  expect(await checkContent('source', 'src/assets/a.webp', inChunks(bytes, 512))).toBe(undefined);
});
