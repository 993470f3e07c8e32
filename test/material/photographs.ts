/** Photos with location and camera data, in the four formats that lose it. All show the same small picture. */
import { deflateSync } from 'node:zlib';
import { pngPart } from '#test/git/samples.ts';
import { type Camera, cameras, exifOf, type Origin, positionBytes, xmpOf } from './cameras.ts';

const base64 = (text: string) => Buffer.from(text, 'base64');
const raw = (text: string) => Buffer.from(text, 'latin1');
const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const u32 = (value: number) => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)]);
const u32le = (value: number) => Buffer.from(u32(value)).reverse();

/** 24 × 16 pixels, without metadata. */
export const pictures = {
  jpg: base64(
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAAQABgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDw2w8O5x8n6V1WlaN9ljf+Ddjt1xXcaX4dzj5K1NS0b7LFB/Bu3duuMf418xXxntMNKp6fmjr4Fz72uY0qd9+b/wBJZwX2L/pp/wCO0V132L/pp/47RXifXT9x/tD+v6R//9k=',
  ),
  png: base64(
    'iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAAYElEQVR4nGNkYGDgIoQmMhAGLAz8DAwMjATQx6/EG8SED5FoEDNuRILXIAaxYEdy5BjEig2RaRAbBiLfIHZURJFBHAhEbhjBDeKEISoYBEnb1DGIm3oGUSOMqOsiehoEAEllCUZgpQ0bAAAAAElFTkSuQmCC',
  ),
  webp: base64(
    'UklGRnYAAABXRUJQVlA4IGoAAABQBACdASoYABAAPp0+mUgloyKhMAgAsBOJZgCdMoRgBlf+4gAUdOn9ouHsAP75LtJSJBv/6iKo1H0i2ePwS4wJtWVvCvfSI8gHTH/K9lc8+I10a3/aoP16/yBdZlpWNpHQdSERgkoEgAAA',
  ),
};
/** The same as AV1, with its configuration. */
const av1 = base64(
  'EgAKCRgQ7+0QENBoQDJXF4eHhiGEkkkmUAAAAO6cGUzofC/h+v2+BpqboouF1WptCGiuHRJW1UO9ORmIx1Z/6knrxy0eAntRsSEYHVyTZeUgPbunVqPW8hhgh4s6jXFeWiWgu2Hg',
);
const av1Configuration = Buffer.from([0x81, 0, 0x0c, 0]);

export const formats = ['jpg', 'png', 'webp', 'avif'] as const;
export type Format = (typeof formats)[number];
export type Photograph = { name: string; format: Format; orientation: number; bytes: Buffer; secrets: Buffer[] };

/** Photos of 12 cameras in both byte orders, four formats and all orientations. */
export function photographs(count = 200): Photograph[] {
  return Array.from({ length: count }, (_, index) => photograph(index));
}

function photograph(index: number): Photograph {
  const camera = cameras[index % cameras.length] as Camera;
  const round = Math.floor(index / cameras.length);
  const format = formats[(index + round) % formats.length] as Format;
  const orientation = format === 'avif' ? 1 : ((index * 3 + round) % 8) + 1;
  const origin: Origin = {
    camera,
    isLittle: round % 2 === 0,
    orientation,
    seconds: [300_000 + index, 450_000 + index],
    place: `Marienplatz ${index}`,
    serial: `SN-${index}-7731`,
  };
  const secrets = [
    ...[camera.make, camera.model, origin.place, origin.serial, 'GPS', 'Gps', 'ISO6709', '2026:05:01'].map(raw),
    ...origin.seconds.map((value) => raw(String(value))),
    ...positionBytes(origin),
  ];
  const name = `${camera.model.replaceAll(' ', '-')}-${index}.${format}`;
  return { name, format, orientation, bytes: made[format](origin), secrets };
}

const made: Record<Format, (origin: Origin) => Buffer> = { jpg: jpgOf, png: pngOf, webp: webpOf, avif: avifOf };

const segment = (marker: number, ...parts: Buffer[]) => {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0xff, marker]), u16(data.length + 2), data]);
};
const exifSegment = (origin: Origin, thumbnail?: Buffer) => segment(0xe1, raw('Exif\0\0'), exifOf(origin, thumbnail));
/** A JPEG with further segments at its start. */
export const jpgWith = (...segments: Buffer[]) =>
  Buffer.concat([pictures.jpg.subarray(0, 2), ...segments, pictures.jpg.subarray(2)]);

function jpgOf(origin: Origin): Buffer {
  const { extras } = origin.camera;
  const other = jpgWith(exifSegment({ ...origin, orientation: 1 }));
  const xmp = xmpOf(origin);
  const segments = [
    exifSegment(origin, other),
    segment(0xe1, raw('http://ns.adobe.com/xap/1.0/\0'), xmp),
    segment(0xfe, raw(origin.place)),
  ];
  if (extras.includes('extended XMP')) {
    const part = (from: number, to: number) =>
      segment(
        0xe1,
        raw(`http://ns.adobe.com/xmp/extension/\0${'A'.repeat(32)}`),
        u32(xmp.length),
        u32(from),
        xmp.subarray(from, to),
      );
    segments.push(part(0, 90), part(90, xmp.length));
  }
  if (extras.includes('IPTC')) {
    const iptc = Buffer.concat([raw('\x1c\x02\x5a'), u16(origin.place.length), raw(origin.place)]);
    segments.push(segment(0xed, raw('Photoshop 3.0\x008BIM\x04\x04\0\0'), u32(iptc.length), iptc));
  }
  if (extras.includes('thermal data'))
    segments.push(segment(0xe4, raw(origin.place)), segment(0xe7, raw(origin.serial)));
  if (extras.includes('second picture'))
    segments.push(segment(0xe2, raw('MPF\0'), raw('MM\0*'), u32(8), raw(origin.serial)));
  const behind: Buffer[] = [];
  if (extras.includes('second picture')) behind.push(other);
  if (extras.includes('film')) behind.push(filmOf(origin));
  if (extras.includes('phone data')) behind.push(filmOf(origin), raw(`${origin.place}SEFH`), u32le(12), raw('SEFT'));
  return Buffer.concat([jpgWith(...segments), ...behind]);
}

const box = (type: string, ...parts: Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8), raw(type), content]);
};

function filmOf({ seconds, place }: Origin): Buffer {
  const position = raw(`+48.${seconds[0]}+011.${seconds[1]}/`);
  const tags = box(
    'udta',
    box('\xa9xyz', u16(position.length), u16(0x15c7), position),
    box('loci', u32(0), raw(place)),
  );
  return Buffer.concat([
    box('ftyp', raw('mp42'), u32(0), raw('mp42')),
    box('moov', box('mvhd', Buffer.alloc(100)), tags),
  ]);
}

function pngOf(origin: Origin): Buffer {
  const exif = exifOf(origin);
  const hex = exif.toString('hex').replace(/(.{72})/g, '$1\n');
  const profile = raw(`\nexif\n${String(exif.length).padStart(8)}\n${hex}\n`);
  const xmp = Buffer.concat([raw('XML:com.adobe.xmp\0\0\0\0\0'), xmpOf(origin)]);
  const packed = Buffer.concat([raw('XML:com.adobe.xmp\0\x01\0\0\0'), deflateSync(xmpOf(origin))]);
  const end = pictures.png.length - 12;
  return Buffer.concat([
    pictures.png.subarray(0, 33),
    pngPart('eXIf', exif),
    pngPart('tEXt', raw(`Comment\0${origin.place}`)),
    pngPart('zTXt', Buffer.concat([raw('Raw profile type exif\0\0'), deflateSync(profile)])),
    pngPart('iTXt', xmp),
    pictures.png.subarray(33, end),
    pngPart('iTXt', packed),
    pngPart('tIME', Buffer.from([7, 0xea, 5, 1, 12, 0, 0])),
    pngPart('prVt', raw(origin.serial)),
    pictures.png.subarray(end),
  ]);
}

function webpOf(origin: Origin): Buffer {
  const chunk = (type: string, data: Buffer) =>
    Buffer.concat([raw(type), u32le(data.length), data, Buffer.alloc(data.length % 2)]);
  const exif = exifOf(origin);
  const content = Buffer.concat([
    raw('WEBP'),
    chunk('VP8X', Buffer.from([0x0c, 0, 0, 0, 23, 0, 0, 15, 0, 0])),
    pictures.webp.subarray(12),
    chunk('EXIF', origin.isLittle ? exif : Buffer.concat([raw('Exif\0\0'), exif])),
    chunk('XMP ', xmpOf(origin)),
    chunk('GPSd', raw(origin.place)),
  ]);
  return Buffer.concat([raw('RIFF'), u32le(content.length), content]);
}

/** An AVIF as encoders write it: EXIF and XMP are items beside the picture. */
export function avifOf(origin: Origin, { rotation = origin.seconds[0] % 4 } = {}): Buffer {
  const exif = Buffer.concat([u32(0), exifOf(origin)]);
  const xmp = xmpOf(origin);
  const type = box('ftyp', raw('avif'), u32(0), raw('avifmif1miaf'));
  const entry = (id: number, kind: string, name: string) =>
    box('infe', Buffer.from([2, 0, 0, 0]), u16(id), u16(0), raw(`${kind}${name}`));
  const location = (id: number, from: number, length: number) =>
    Buffer.concat([u16(id), u16(0), u16(1), u32(from), u32(length)]);
  const properties = [
    box('ispe', u32(0), u32(24), u32(16)),
    box('pixi', u32(0), Buffer.from([3, 8, 8, 8])),
    box('av1C', av1Configuration),
    box('colr', raw('nclx'), Buffer.from([0, 1, 0, 13, 0, 6, 0x80])),
    box('irot', Buffer.from([rotation])),
    box('udes', u32(0), raw(`en\0${origin.place}\0${origin.serial}\0\0`)),
  ];
  const metaAt = (data: number) =>
    box(
      'meta',
      u32(0),
      box('hdlr', u32(0), u32(0), raw('pict'), Buffer.alloc(12), raw(`${origin.camera.make}\0`)),
      box('pitm', u32(0), u16(1)),
      box(
        'iloc',
        u32(0),
        u16(0x4400),
        u16(3),
        location(1, data + exif.length, av1.length),
        location(2, data, exif.length),
        location(3, data + exif.length + av1.length, xmp.length),
      ),
      box(
        'iinf',
        u32(0),
        u16(3),
        entry(1, 'av01', `${origin.place}\0`),
        entry(2, 'Exif', 'Exif\0'),
        entry(3, 'mime', 'XMP\0application/rdf+xml\0'),
      ),
      box('iref', u32(0), box('cdsc', u16(2), u16(1), u16(1)), box('cdsc', u16(3), u16(1), u16(1))),
      box(
        'iprp',
        box('ipco', ...properties),
        box('ipma', u32(0), u32(1), u16(1), Buffer.from([6, 1, 2, 0x83, 4, 0x85, 6])),
      ),
      box('uuid', raw(origin.place.padEnd(32))),
    );
  const data = type.length + metaAt(0).length + 8;
  return Buffer.concat([
    type,
    metaAt(data),
    box('mdat', exif, av1, xmp, raw(origin.place)),
    box('free', raw(origin.serial)),
  ]);
}
