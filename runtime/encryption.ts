/** Encryption of secrets in rows: AES-256-GCM under the installation's newest key. Older keys still decrypt. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** First byte of a ciphertext: how its key is derived and its bytes are laid out. */
const layout = 1;
const nonceBytes = 12;
const tagBytes = 16;
/** Identifies the key, so that a missing key can be told from changed bytes. */
const keyIdBytes = 4;
const prefixBytes = 1 + keyIdBytes;

/** A ciphertext that cannot be decrypted: its key is missing, its context is another one, or its bytes were changed. */
export class DecryptionFault extends Error {
  readonly reason: 'unknown_key' | 'changed';
  constructor(reason: DecryptionFault['reason']) {
    super(
      reason === 'unknown_key'
        ? 'encrypted with a key that is not configured'
        : 'the encrypted bytes were changed or belong to another row',
    );
    this.reason = reason;
  }
}

/** A key with the version that operators know it by. Ciphertexts contain `id` in the clear. */
export type EncryptionKey = { version: string; key: Buffer; id: Buffer };
/** The last one encrypts, all decrypt. */
export type EncryptionKeys = readonly [EncryptionKey, ...EncryptionKey[]];

/** A key of 32 bytes for one purpose (HKDF-SHA-256, RFC 5869). Each purpose gets an independent key from the same secret. */
export function deriveKey(secret: string, purpose: string, salt: string | Uint8Array = ''): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32));
}

/** Keys of an installation, oldest first. Ciphertexts from before keys had versions use the key of the installation's secret. */
export function createEncryptionKeys(
  secret: string,
  versions: readonly { version: string; secret: string }[],
): EncryptionKeys {
  return [keyOf('secret', secret), ...versions.map((one) => keyOf(one.version, one.secret))];
}

/** The key that encrypts. */
export function currentKey(keys: EncryptionKeys): EncryptionKey {
  return keys.at(-1) ?? keys[0];
}

/**
 * Encrypts for one place. `context` names it (as `mail:<id>`), and a ciphertext that is moved to another place does not decrypt there.
 * Layout: version of the layout, key id, nonce, ciphertext, tag.
 */
export function encrypt(keys: EncryptionKeys, plain: string | Uint8Array, context: string): Buffer {
  const { key, id } = currentKey(keys);
  const prefix = Buffer.concat([Buffer.from([layout]), id]);
  return Buffer.concat([prefix, encryptWith(key, plain, boundTo(prefix, context))]);
}

/** The plain bytes of a ciphertext of this place. Throws DecryptionFault. */
export function decrypt(keys: EncryptionKeys, encrypted: Uint8Array, context: string): Buffer {
  const prefix = Buffer.from(encrypted.subarray(0, prefixBytes));
  if (encrypted.length < prefixBytes + nonceBytes + tagBytes || prefix[0] !== layout)
    throw new DecryptionFault('changed');
  const key = keys.find(({ id }) => id.equals(prefix.subarray(1)))?.key;
  if (!key) throw new DecryptionFault('unknown_key');
  return decryptWith(key, encrypted.subarray(prefixBytes), boundTo(prefix, context));
}

/** Encrypts with one key: nonce, ciphertext, tag. `associated` is authenticated and not included. */
export function encryptWith(key: Buffer, plain: string | Uint8Array, associated: Uint8Array = Buffer.alloc(0)): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Reverses `encryptWith`. Throws DecryptionFault. */
export function decryptWith(key: Buffer, encrypted: Uint8Array, associated: Uint8Array = Buffer.alloc(0)): Buffer {
  if (encrypted.length < nonceBytes + tagBytes) throw new DecryptionFault('changed');
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, nonceBytes)).setAAD(associated);
  decipher.setAuthTag(encrypted.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw new DecryptionFault('changed');
  }
}

/** Where a ciphertext contains the id of its key, for SQL. */
export const keyIdPosition = { offset: 1, bytes: keyIdBytes } as const;

function keyOf(version: string, secret: string): EncryptionKey {
  const key = deriveKey(secret, `frontage sealing ${layout}`);
  return { version, key, id: createHash('sha256').update('key id').update(key).digest().subarray(0, keyIdBytes) };
}

function boundTo(prefix: Buffer, context: string): Buffer {
  return Buffer.concat([prefix, Buffer.from(context)]);
}
