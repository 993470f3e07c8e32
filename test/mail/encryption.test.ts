import { expect, test } from 'vitest';
import {
  createEncryptionKeys,
  DecryptionFault,
  decrypt,
  decryptWith,
  deriveKey,
  encrypt,
  encryptWith,
  keyIdPosition,
} from '#runtime/encryption.ts';

const text = 'the secret of an installation, long enough';
const keys = createEncryptionKeys(text, []);

test('a ciphertext decrypts with its key and context', () => {
  for (const plain of ['', 'a link', 'é🥐', 'x'.repeat(100_000)]) {
    expect(decrypt(keys, encrypt(keys, plain, 'mail:1'), 'mail:1').toString()).toBe(plain);
  }
});

test('the same text never encrypts to the same bytes, and is invisible in them', () => {
  const [one, two] = [encrypt(keys, 'a secret link', 'mail:1'), encrypt(keys, 'a secret link', 'mail:1')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('secret link')).toBe(false);
});

test('moved, changed or truncated ciphertexts do not decrypt, and a missing key is named', () => {
  const encrypted = encrypt(keys, 'a link', 'mail:1');
  const outcome = (bytes: Uint8Array, context = 'mail:1', among = keys) => {
    try {
      decrypt(among, bytes, context);
      return 'decrypted';
    } catch (error) {
      return error instanceof DecryptionFault ? error.reason : error;
    }
  };
  expect(outcome(encrypted, 'mail:2')).toBe('changed');
  expect(outcome(encrypted, 'mail:1', createEncryptionKeys(`${text}!`, []))).toBe('unknown_key');
  for (let length = 0; length < encrypted.length; length++)
    expect(outcome(encrypted.subarray(0, length))).toBe('changed');
  for (let at = 0; at < encrypted.length; at++) {
    const changed = Buffer.from(encrypted);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const isKeyId = at >= keyIdPosition.offset && at < keyIdPosition.offset + keyIdPosition.bytes;
    expect(outcome(changed)).toBe(isKeyId ? 'unknown_key' : 'changed');
  }
});

test('ciphertexts of earlier builds still decrypt', () => {
  const versions = [{ version: 'v1', secret: 'another secret that is long enough, too' }];
  const both = createEncryptionKeys('a secret that is long enough for a test', versions);
  for (const stored of [
    'AYIWai6x6O6uGv3veX0xTo9SvLKDNB6cmqL/A13TPMoe2kMyJfVu',
    'ATlmF6HihutrcX8pm9cH1kHs+zVax0/QE/1L0irUl6MrcP3mjzlq',
  ])
    expect(decrypt(both, Buffer.from(stored, 'base64'), 'mail:1').toString()).toBe('a link');
  const key = deriveKey('bearer', 'idempotency\0key', Buffer.from('scope'));
  const stored = Buffer.from('eJsfU6FDxhtissYT1LQCt+2PavM8OD37Eb/yzzg1WIyW+g==', 'base64');
  expect(decryptWith(key, stored).toString()).toBe('secret');
  expect(decryptWith(key, encryptWith(key, 'secret')).toString()).toBe('secret');
});
