/** What is kept unreadable in rows: sealed with AES-256-GCM under the newest of the installation's keys. Each key opens what it sealed. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** First byte of what is sealed: how the key is made and how the bytes are laid out. */
const layout = 1;
const nonceBytes = 12;
const tagBytes = 16;
/** Names the key, so that a lost one is told apart from bytes that were changed. */
const keyIdBytes = 4;
const headBytes = 1 + keyIdBytes + nonceBytes;

/** What cannot be opened: sealed under a key that is not held, for another place, or changed since. */
export class SealBroken extends Error {
  readonly because: 'other key' | 'changed';
  constructor(because: SealBroken['because']) {
    super(
      because === 'other key'
        ? 'sealed under a key that is not held'
        : 'what was sealed was changed, or belongs elsewhere',
    );
    this.because = because;
  }
}

/** A key, with the version by which operators call it. `id` stands in the clear in what it sealed. */
export type SealingKey = { version: string; key: Buffer; id: Buffer };
/** The last one seals, all open. */
export type Keyring = readonly [SealingKey, ...SealingKey[]];

/** What was sealed before keys had versions is under the key that the installation's secret makes. */
export function openKeyring(secret: string, versions: readonly { version: string; secret: string }[]): Keyring {
  return [keyOf('secret', secret), ...versions.map((one) => keyOf(one.version, one.secret))];
}

/** The key that seals. */
export function sealsWith(keyring: Keyring): SealingKey {
  return keyring.at(-1) ?? keyring[0];
}

/**
 * Seals for one place: `context` names it (as `mail:<id>`), and what is moved to another does not open there.
 * Layout: version of the layout, key id, nonce, ciphertext, tag.
 */
export function seal(keyring: Keyring, plain: string | Uint8Array, context: string): Buffer {
  const { key, id } = sealsWith(keyring);
  const head = Buffer.concat([Buffer.from([layout]), id, randomBytes(nonceBytes)]);
  const cipher = createCipheriv('aes-256-gcm', key, head.subarray(-nonceBytes)).setAAD(boundTo(head, context));
  return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The bytes that were sealed for this place. Throws SealBroken. */
export function open(keyring: Keyring, sealed: Uint8Array, context: string): Buffer {
  const head = Buffer.from(sealed.subarray(0, headBytes));
  if (sealed.length < headBytes + tagBytes || head[0] !== layout) throw new SealBroken('changed');
  const key = keyring.find(({ id }) => id.equals(head.subarray(1, 1 + keyIdBytes)))?.key;
  if (!key) throw new SealBroken('other key');
  const decipher = createDecipheriv('aes-256-gcm', key, head.subarray(-nonceBytes)).setAAD(boundTo(head, context));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw new SealBroken('changed');
  }
}

/** Of which key something sealed is: its id, where one reads it in SQL too. */
export const keyIdAt = { offset: 1, bytes: keyIdBytes } as const;

function keyOf(version: string, secret: string): SealingKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `frontage sealing ${layout}`, 32));
  return { version, key, id: createHash('sha256').update('key id').update(key).digest().subarray(0, keyIdBytes) };
}

function boundTo(head: Buffer, context: string): Buffer {
  return Buffer.concat([head.subarray(0, 1 + keyIdBytes), Buffer.from(context)]);
}
