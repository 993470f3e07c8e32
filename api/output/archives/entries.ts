/** What the formats of archives have in common. Everything in an archive is a claim of its sender. */
import type { Readable } from 'node:stream';
import { printable } from '#providers/paths.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** One entry, in the order of the archive. It has to be read or skipped before the next one. */
export type ArchiveEntry = {
  /** As written. */
  name: string;
  /** `other`: a link, a device or anything else that is no file. */
  kind: 'file' | 'folder' | 'other';
  /** The size that the archive claims. Reading more or fewer bytes fails. */
  bytes: number;
  open(): Promise<Readable>;
};

/** What an archive may have. */
export type ArchiveBounds = { bodyBytesMax: number; entriesMax: number };

/** How many times larger than its compressed bytes the contents may be, beyond the first bytes. */
export const ratioMax = 100;
const ratioFreeBytes = 1024 * 1024;

export function isBomb(unpacked: number, packed: number): boolean {
  return unpacked > ratioFreeBytes && unpacked > packed * ratioMax;
}

export function invalidArchive(what: string, cause?: unknown): AppError {
  return errors.invalid_file(`The archive ${what}.`, {
    nextAction: 'Create the archive again with tar, gzip or zip, and send it once more.',
    ...(cause === undefined ? {} : { cause }),
  });
}

export function tooLargeArchive(what: string): AppError {
  return errors.plan_limit(`The archive ${what}.`, { nextAction: 'Send a smaller site.' });
}

export function invalidEntry(name: string, what: string): AppError {
  return errors.invalid_manifest(`${printable(name) || 'An entry of the archive'} ${what}.`, {
    nextAction: 'Remove or rename the file, create the archive again, and send it once more.',
  });
}
