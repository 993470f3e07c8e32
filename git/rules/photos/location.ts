/** Whether the metadata of a photo says where it was taken. */
import { inflateSync } from 'node:zlib';
import { entriesOf } from './exif.ts';

const [gpsDirectory, latitude, longitude] = [0x8825, 2, 4];
const tiffsMax = 32;
const textsMax = 16;
const textBytesMax = 1_048_576;

/** XMP, and films of phones (QuickTime, 3GPP). */
const words =
  /gps(latitude|longitude|coordinates)|location\.iso6709|\xa9xyz|loci\0{4}|photoshop:city|iptc4xmp(core|ext):location/i;
/** City and sublocation (IPTC IIM 4.2, section 6). */
const iptc = ['\x1c\x02\x5a', '\x1c\x02\x5c'];

/** Searches bytes that were removed from a photo, in whatever order. Bounded in time; never throws. */
export function namesLocation(metadata: Buffer): boolean {
  const text = metadata.toString('latin1');
  const isInIptc = text.includes('Photoshop 3.0') && iptc.some((field) => text.includes(field));
  return words.test(text) || isInIptc || hasGps(metadata) || packedTexts(metadata).some(isLocated);
}

function isLocated(text: Buffer): boolean {
  const profile = /^Raw profile type [^\0]{1,60}\0{1,5}\n\w{1,20}\n *\d{1,10}\n([0-9a-f\n]+)/i.exec(
    text.toString('latin1'),
  )?.[1];
  return (
    words.test(text.toString('latin1')) ||
    (profile !== undefined && hasGps(Buffer.from(profile.replaceAll('\n', ''), 'hex')))
  );
}

/** EXIF data with a latitude or longitude. */
function hasGps(bytes: Buffer): boolean {
  return ['II*\0', 'MM\0*'].some((order) => {
    let at = bytes.indexOf(order, 0, 'latin1');
    for (let seen = 0; at !== -1 && seen < tiffsMax; seen++) {
      const tiff = bytes.subarray(at);
      const directory = entriesOf(tiff).find(({ tag }) => tag === gpsDirectory);
      if (directory && entriesOf(tiff, directory.value).some(isPosition)) return true;
      at = bytes.indexOf(order, at + 4, 'latin1');
    }
    return false;
  });
}

const isPosition = ({ tag, count }: { tag: number; count: number }) =>
  (tag === latitude || tag === longitude) && count > 0;

/** Compressed texts of a PNG, with their keywords. */
function packedTexts(bytes: Buffer): Buffer[] {
  const texts: Buffer[] = [];
  for (const type of ['zTXt', 'iTXt']) {
    for (let at = bytes.indexOf(type); at >= 4 && texts.length < textsMax; at = bytes.indexOf(type, at + 4)) {
      const data = bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4));
      let start = data.indexOf(0) + 2;
      if (type === 'iTXt') start = data.indexOf(0, data.indexOf(0, start + 1) + 1) + 1;
      try {
        const text = inflateSync(data.subarray(start), { maxOutputLength: textBytesMax });
        texts.push(Buffer.concat([data.subarray(0, start), text]));
      } catch {}
    }
  }
  return texts;
}
