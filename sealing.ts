/** What is kept unreadable in rows: sealed with AES-256-GCM under a key that the installation's secret makes. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** First byte of what is sealed: how the key is made and how the bytes are laid out. */
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
/** Names the key, so that a lost one is told apart from bytes that were changed. */
const keyIdBytes = 4;
const headBytes = 1 + keyIdBytes + nonceBytes;

/** What cannot be opened: sealed under another secret, for another place, or changed since. */
export class SealBroken extends Error {
  readonly because: 'other key' | 'changed';
  constructor(because: SealBroken['because']) {
    super(
      because === 'other key' ? 'sealed under another secret' : 'what was sealed was changed, or belongs elsewhere',
    );
    this.because = because;
  }
}

/**
 * Seals under `secret`, for one place: `context` names it (as `mail:<id>`), and what is moved to another does not open there.
 * Layout: version, key id, nonce, ciphertext, tag.
 */
export function seal(secret: string, plain: string | Uint8Array, context: string): Buffer {
  const { key, id } = keyOf(secret);
  const head = Buffer.concat([Buffer.from([version]), id, randomBytes(nonceBytes)]);
  const cipher = createCipheriv('aes-256-gcm', key, head.subarray(-nonceBytes)).setAAD(boundTo(head, context));
  return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The bytes that were sealed for this place. Throws SealBroken. */
export function open(secret: string, sealed: Uint8Array, context: string): Buffer {
  const { key, id } = keyOf(secret);
  const head = Buffer.from(sealed.subarray(0, headBytes));
  if (sealed.length < headBytes + tagBytes || head[0] !== version) throw new SealBroken('changed');
  if (!id.equals(head.subarray(1, 1 + keyIdBytes))) throw new SealBroken('other key');
  const decipher = createDecipheriv('aes-256-gcm', key, head.subarray(-nonceBytes)).setAAD(boundTo(head, context));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw new SealBroken('changed');
  }
}

function keyOf(secret: string): { key: Buffer; id: Buffer } {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `frontage sealing ${version}`, 32));
  return { key, id: createHash('sha256').update('key id').update(key).digest().subarray(0, keyIdBytes) };
}

function boundTo(head: Buffer, context: string): Buffer {
  return Buffer.concat([head.subarray(0, 1 + keyIdBytes), Buffer.from(context)]);
}
