/** The orientation in EXIF data, whose structure is that of a TIFF (Exif 3.0, section 4.6). */

const orientationTag = 0x0112;
const entriesMax = 512;

/** A directory of a TIFF: its entries by tag. */
export type Entry = { tag: number; type: number; count: number; value: number };

/** Reads the directory at `offset`, or the first one. Returns as many entries as the bytes have; never throws. */
export function entriesOf(tiff: Buffer, offset?: number): Entry[] {
  const order = tiff.toString('latin1', 0, 4);
  if (order !== 'II*\0' && order !== 'MM\0*') return [];
  const isLittle = order.startsWith('I');
  const read = (at: number, bytes: number) => {
    if (at + bytes > tiff.length) return 0;
    return isLittle ? tiff.readUIntLE(at, bytes) : tiff.readUIntBE(at, bytes);
  };
  const start = offset ?? read(4, 4);
  const count = Math.min(read(start, 2), entriesMax);
  const entries: Entry[] = [];
  for (let at = start + 2; at + 12 <= tiff.length && entries.length < count; at += 12) {
    const type = read(at + 2, 2);
    entries.push({ tag: read(at, 2), type, count: read(at + 4, 4), value: read(at + 8, type === 3 ? 2 : 4) });
  }
  return entries;
}

/** 2 to 8 for a picture that viewers turn or mirror; undefined for one that is shown as it is stored. */
export function orientationOf(tiff: Buffer): number | undefined {
  const value = entriesOf(tiff).find(({ tag }) => tag === orientationTag)?.value ?? 1;
  return value >= 2 && value <= 8 ? value : undefined;
}

/** EXIF data with an orientation and nothing else. */
export function exifWith(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('II*\0\x08\0\0\0\x01\0', 'latin1');
  tiff.writeUInt16LE(orientationTag, 10);
  tiff.writeUInt16LE(3, 12);
  tiff.writeUInt32LE(1, 14);
  tiff.writeUInt16LE(orientation, 18);
  return tiff;
}

/** The TIFF in EXIF data that may have the prefix of a JPEG segment. */
export function withoutPrefix(exif: Buffer): Buffer {
  return exif.toString('latin1', 0, 5) === 'Exif\0' ? exif.subarray(6) : exif;
}
