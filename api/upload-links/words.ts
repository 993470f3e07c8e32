/** Why a file is refused, worded for a shop owner. */
import { Refused } from '#api/source/validation.ts';
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

/** `found` is the format of the bytes if it is known; `mime` its media type. */
export function formatWords(found: string | undefined, mime: string | undefined): string {
  if (found === undefined) return `This file is not a photo that a website can show. ${other}`;
  if (found === 'heic' || found === 'heif') {
    return (
      'This photo is in Apple’s HEIC format, which many browsers cannot show. On the iPhone, go to Settings > Camera > Formats, ' +
      'choose “Most Compatible”, and take the photo again. Or open the photo and export it as a JPG.'
    );
  }
  if (programs.includes(found)) return `This is a program, not a photo. ${other}`;
  if (packages.includes(found)) return 'This is an archive of several files. Open it and send the photos inside.';
  if (documents.includes(found))
    return `This is a document, not a photo. ${other} To publish a document, ask the person who makes your website.`;
  if (raw.includes(found)) return 'This is a raw camera file. Export it as a JPG and send that instead.';
  if (mime?.startsWith('video/'))
    return 'This is a video, but this page accepts only photos. Upload videos to a video service instead.';
  if (mime?.startsWith('audio/')) return `This is an audio file, not a photo. ${other}`;
  return `Websites cannot show this kind of picture (${found.toUpperCase()}). ${other}`;
}

/** The size limit in words: "25 MB". */
export function sizeWords(bytes: number): string {
  if (bytes >= 1_048_576) return `${Math.floor((bytes / 1_048_576) * 10) / 10} MB`;
  return bytes >= 1024 ? `${Math.floor(bytes / 1024)} KB` : `${bytes} bytes`;
}

/** Why a push rule or a limit refused a file of an accepted format. */
export function refusalWords(error: AppError): string {
  const reason = error.cause instanceof Refused ? error.cause.reason : undefined;
  switch (error.code) {
    case 'format_not_allowed':
      return reason === 'executable'
        ? 'This drawing contains a script. Save it as a PNG and send that instead.'
        : formatWords(undefined, undefined);
    case 'invalid_file':
      if (reason === 'pixels')
        return 'This picture is too large for a website. Save a smaller copy and send that instead.';
      if (reason === 'truncated') return 'This photo is incomplete. Send it again, or take it again.';
      return 'This photo is damaged or contains extra data. Open it, save a new copy and send that instead.';
    case 'rate_limited':
      return 'The website has reached its daily limit for uploads. Please send this photo tomorrow.';
    case 'plan_limit':
      return reason === 'site_full'
        ? 'The website’s storage is full. Ask the person who makes the website to remove unused files.'
        : error.message;
    case 'stale_hash':
      return 'The website was changed while you were sending this photo. Please send the photo again.';
    case 'storage_error':
      return 'We could not save this photo just now. Please send it again in a minute.';
    default:
      return error.message;
  }
}
