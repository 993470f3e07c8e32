/** Hashes of secrets. */
import { createHash } from 'node:crypto';

/** SHA-256. A secret of 32 random bytes needs no slow hash, and rows can be found by this one. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
