/** Why a file is not taken, said to someone who runs a shop and not a computer. */
import type { AppError } from '#runtime/errors.ts';

const programs = [
  'exe',
  'elf',
  'macho',
  'class',
  'msi',
  'cfb',
  'deb',
  'rpm',
  'apk',
  'jar',
  'dmg',
  'wasm',
  'lnk',
  'cab',
];
const packages = ['zip', '7z', 'rar', 'gz', 'tar', 'bz2', 'xz', 'zst', 'lz'];
const documents = ['pdf', 'docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf', 'epub', 'ps', 'eps'];
const raw = ['dng', 'cr2', 'cr3', 'nef', 'arw', 'orf', 'rw2', 'raf'];
const other = 'Please send a JPG, PNG or WebP picture.';

/** `found` is the format that the bytes have, where it is known; `mime` its media type. */
export function formatWords(found: string | undefined, mime: string | undefined): string {
  if (found === undefined) return `This is not a photo that a website can show. ${other}`;
  if (found === 'heic' || found === 'heif') {
    return (
      'This photo is in Apple’s HEIC format, which many browsers cannot show. On the iPhone, open Settings, Camera, ' +
      'Formats and choose “Most Compatible”, then take it again. Or open the photo and export it as JPG.'
    );
  }
  if (programs.includes(found)) return `This is a program, not a photo, whatever its name says. ${other}`;
  if (packages.includes(found)) return 'This is a package of files. Open it, and send the photos that are inside.';
  if (documents.includes(found))
    return `This is a document, not a photo. ${other} For a paper, ask whoever makes your website.`;
  if (raw.includes(found)) return 'This is a camera’s raw file. Export it as JPG first, then send that.';
  if (mime?.startsWith('video/'))
    return 'This is a film, and this page takes photos. A film belongs on a video service.';
  if (mime?.startsWith('audio/')) return `This is a sound, not a photo. ${other}`;
  return `This kind of picture (${found.toUpperCase()}) cannot be shown on a website. ${other}`;
}

/** The cap of a link in the words of a phone: "25 MB". */
export function sizeWords(bytes: number): string {
  if (bytes >= 1_048_576) return `${Math.floor((bytes / 1_048_576) * 10) / 10} MB`;
  return bytes >= 1024 ? `${Math.floor(bytes / 1024)} KB` : `${bytes} bytes`;
}

/** What the rules of a push, or the caps, have against a file that is of a good format. */
export function refusalWords(error: AppError): string {
  const runs = /SVG here may hold nothing that can run/.test(error.message);
  switch (error.code) {
    case 'format_not_allowed':
      return runs
        ? 'This drawing has a program in it. Save it as PNG, and send that.'
        : formatWords(undefined, undefined);
    case 'invalid_file':
      if (/pixels/.test(error.message))
        return 'This picture has more pixels than a website can use. Save a smaller copy, and send that.';
      if (/cut off/.test(error.message))
        return 'This photo is not whole: its end is missing. Send it again, or take it again.';
      return 'This photo is damaged, or has something else hidden in it. Open it, save a fresh copy, and send that.';
    case 'rate_limited':
      return 'The website has taken as many files as it can in one day. Send this one tomorrow.';
    case 'plan_limit':
      return /hold more than/.test(error.message)
        ? 'The website is full. Ask whoever makes it to remove files that are not needed.'
        : error.message;
    case 'stale_hash':
      return 'The website was being changed at the same moment. Send this photo again.';
    default:
      return error.message;
  }
}
