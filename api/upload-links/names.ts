/** File names for uploads from a phone or a computer. Pure. */

const nameLengthMax = 60;
// Names that Windows reserves for devices, with any extension.
const devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * A readable name for a URL: "Käse-Theke 🧀 (1).JPG" becomes `kase-theke-1`. Without folder and extension; `photo` if nothing
 * is left.
 */
export function safeName(original: string): string {
  const last = original.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replace(/\.[^.]{1,10}$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  const short = [...plain].slice(0, nameLengthMax).join('').replace(/-+$/, '');
  if (short === '') return 'photo';
  return devices.test(short) ? `photo-${short}` : short;
}

/** The first of `name.jpg`, `name-2.jpg`, … that `isFree`. */
export function freePath(folder: string, name: string, extension: string, isFree: (path: string) => boolean): string {
  for (let number = 1; ; number++) {
    const path = `${folder}${name}${number === 1 ? '' : `-${number}`}.${extension}`;
    if (isFree(path)) return path;
  }
}
