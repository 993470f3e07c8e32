/** EXIF data as twelve makers of cameras write it: byte order, directories, maker notes, thumbnails. */

export type Camera = {
  make: string;
  model: string;
  /** What the maker note begins with. */
  note: string;
  /** What the camera appends to a JPEG, or puts beside its EXIF data. */
  extras: ('second picture' | 'film' | 'phone data' | 'extended XMP' | 'IPTC' | 'thermal data')[];
};

export const cameras: Camera[] = [
  { make: 'Apple', model: 'iPhone 15 Pro', note: 'Apple iOS\0\0\x01MM', extras: ['second picture', 'IPTC'] },
  { make: 'samsung', model: 'SM-S918B', note: '\x07\0\x01\0\x07\0\x04\0', extras: ['film', 'phone data'] },
  { make: 'Google', model: 'Pixel 8', note: 'HDRP\x02', extras: ['extended XMP', 'film'] },
  { make: 'Canon', model: 'Canon EOS R6', note: '\x20\0\x01\0\x03\0', extras: ['IPTC'] },
  { make: 'NIKON CORPORATION', model: 'NIKON Z 6', note: 'Nikon\0\x02\x11\0\0MM\0*', extras: ['second picture'] },
  { make: 'SONY', model: 'ILCE-7M4', note: 'SONY DSC \0\0\0', extras: ['second picture'] },
  { make: 'FUJIFILM', model: 'X-T5', note: 'FUJIFILM\x0c\0\0\0', extras: [] },
  { make: 'Panasonic', model: 'DC-S5M2', note: 'Panasonic\0\0\0', extras: ['second picture'] },
  { make: 'OLYMPUS CORPORATION', model: 'E-M1MarkIII', note: 'OLYMPUS\0II\x03\0', extras: [] },
  { make: 'HUAWEI', model: 'LYA-L29', note: 'HUAWEI\0\0', extras: ['phone data'] },
  { make: 'Xiaomi', model: '2211133G', note: '{"mirror":false}', extras: ['film'] },
  { make: 'DJI', model: 'FC3582', note: 'DJI\0[ae_dbg_info:', extras: ['thermal data', 'extended XMP'] },
];

/** Where and with what a photo was taken. */
export type Origin = {
  camera: Camera;
  isLittle: boolean;
  orientation: number;
  /** Seconds of latitude and longitude, in ten thousandths. */
  seconds: [number, number];
  place: string;
  serial: string;
};

type Field = { tag: number; type: number; count: number; data: Buffer };

function writer(isLittle: boolean) {
  const numbers = (bytes: number, values: number[]) => {
    const data = Buffer.alloc(bytes * values.length);
    values.forEach((value, index) => {
      if (isLittle) data.writeUIntLE(value, index * bytes, bytes);
      else data.writeUIntBE(value, index * bytes, bytes);
    });
    return data;
  };
  return {
    text: (tag: number, value: string): Field => ({ tag, type: 2, count: value.length + 1, data: raw(`${value}\0`) }),
    shorts: (tag: number, ...values: number[]): Field => ({
      tag,
      type: 3,
      count: values.length,
      data: numbers(2, values),
    }),
    longs: (tag: number, ...values: number[]): Field => ({
      tag,
      type: 4,
      count: values.length,
      data: numbers(4, values),
    }),
    ratios: (tag: number, ...values: number[]): Field => ({
      tag,
      type: 5,
      count: values.length / 2,
      data: numbers(4, values),
    }),
    bytes: (tag: number, data: Buffer): Field => ({ tag, type: 7, count: data.length, data }),
    numbers,
  };
}
const raw = (text: string) => Buffer.from(text, 'latin1');

/** The bytes of the position, in this byte order: what must not be left anywhere. */
export function positionBytes({ isLittle, seconds }: Pick<Origin, 'isLittle' | 'seconds'>): Buffer[] {
  return seconds.map((value) => writer(isLittle).numbers(4, [value, 10_000]));
}

/** The TIFF of EXIF data, with directories for the picture, the exposure, the position and a thumbnail. */
export function exifOf(origin: Origin, thumbnail: Buffer = Buffer.alloc(0)): Buffer {
  const { camera, isLittle, orientation, seconds, place, serial } = origin;
  const write = writer(isLittle);
  const note = Buffer.concat([raw(camera.note), raw(` ${place} ${serial}`), ...positionBytes(origin)]);
  const exposure = [
    write.text(0x9003, '2026:05:01 12:00:00'),
    write.bytes(0x927c, note),
    write.bytes(0x9286, raw(`ASCII\0\0\0${place}`)),
    write.text(0xa431, serial),
    write.text(0xa434, `${camera.make} 24-70mm`),
  ];
  const position = [
    write.bytes(0, Buffer.from([2, 3, 0, 0])),
    write.text(1, 'N'),
    write.ratios(2, 48, 1, 8, 1, seconds[0], 10_000),
    write.text(3, 'E'),
    write.ratios(4, 11, 1, 34, 1, seconds[1], 10_000),
    write.bytes(0x1c, raw(`ASCII\0\0\0${place}`)),
    write.text(0x1d, '2026:05:01'),
  ];
  const picture = (exposureAt: number, positionAt: number) => [
    write.text(0x010e, place),
    write.text(0x010f, camera.make),
    write.text(0x0110, camera.model),
    write.shorts(0x0112, orientation),
    write.text(0x0131, `${camera.model} 17.4`),
    write.text(0x0132, '2026:05:01 12:00:00'),
    write.text(0x013b, `Owner of ${serial}`),
    write.longs(0x8769, exposureAt),
    write.longs(0x8825, positionAt),
  ];
  const exposureAt = 8 + sizeOf(picture(0, 0));
  const positionAt = exposureAt + sizeOf(exposure);
  const thumbnailAt = positionAt + sizeOf(position);
  const small = (at: number) => [
    write.shorts(0x0103, 6),
    write.longs(0x0201, at),
    write.longs(0x0202, thumbnail.length),
  ];
  return Buffer.concat([
    raw(isLittle ? 'II*\0' : 'MM\0*'),
    write.numbers(4, [8]),
    directory(write, 8, picture(exposureAt, positionAt), thumbnailAt),
    directory(write, exposureAt, exposure),
    directory(write, positionAt, position),
    directory(write, thumbnailAt, small(thumbnailAt + sizeOf(small(0)))),
    thumbnail,
  ]);
}

const outside = ({ data }: Field) => (data.length > 4 ? data.length + (data.length % 2) : 0);
const sizeOf = (fields: Field[]) => 6 + fields.reduce((sum, field) => sum + 12 + outside(field), 0);

function directory({ numbers }: ReturnType<typeof writer>, at: number, fields: Field[], next = 0): Buffer {
  let free = at + 6 + 12 * fields.length;
  const rows: Buffer[] = [numbers(2, [fields.length])];
  const values: Buffer[] = [];
  for (const field of fields) {
    const isOutside = field.data.length > 4;
    const inside = Buffer.concat([field.data, Buffer.alloc(4)]).subarray(0, 4);
    rows.push(numbers(2, [field.tag, field.type]), numbers(4, [field.count]), isOutside ? numbers(4, [free]) : inside);
    if (isOutside) values.push(field.data, Buffer.alloc(field.data.length % 2));
    free += outside(field);
  }
  return Buffer.concat([...rows, numbers(4, [next]), ...values]);
}

/** XMP as cameras, drones and editors write it. */
export function xmpOf({ camera, place, serial, seconds }: Origin): Buffer {
  return Buffer.from(
    `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description ` +
      `exif:GPSLatitude="48,8.${seconds[0]}N" exif:GPSLongitude="11,34.${seconds[1]}E" drone-dji:GpsLatitude="48.${seconds[0]}" ` +
      `photoshop:City="${place}" tiff:Make="${camera.make}" aux:SerialNumber="${serial}"/></x:xmpmeta>`,
  );
}
