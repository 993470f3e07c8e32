/** Names in a store of any kind, and the error for a store that fails. */
import { errors } from '#runtime/errors.ts';
import type { Encoding } from './store.ts';

export const suffixes: Record<Encoding, string> = { identity: '', br: '.br', gzip: '.gz' };

/** `sha256/<ab>/<cdef…>`, with a suffix for a compressed variant. Throws unless `sha256` is a SHA-256 in hex. */
export function blobName(sha256: string, encoding: Encoding = 'identity'): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('not a SHA-256');
  return `sha256/${sha256.slice(0, 2)}/${sha256.slice(2)}${suffixes[encoding]}`;
}

/** A caller's name for stored bytes, unchanged. Throws on one that could lead to another path. */
export function keptName(name: string): string {
  if (!/^[a-z0-9_.-]{1,200}$/.test(name) || name.startsWith('.')) throw new Error('not a valid name for a stored file');
  return name;
}

export function storageError(cause: unknown) {
  return errors.storage_error('The platform’s file storage is temporarily unavailable.', {
    nextAction: 'Send the same call again in a few seconds.',
    cause,
  });
}
