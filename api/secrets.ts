/** What is kept of a secret that its holder shows. */
import { createHash } from 'node:crypto';

/** SHA-256. A secret of 32 random bytes needs no slower hash, and can be looked up by this one. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
