import { expect, test } from 'vitest';
import { open, openKeyring, SealBroken, seal } from '#runtime/encryption.ts';

const text = 'the secret of an installation, long enough';
const secret = openKeyring(text, []);

test('what is sealed opens again, in its place, under its secret', () => {
  for (const plain of ['', 'a link', 'é🥐', 'x'.repeat(100_000)]) {
    expect(open(secret, seal(secret, plain, 'mail:1'), 'mail:1').toString()).toBe(plain);
  }
});

test('the same words are never sealed the same twice, and do not show', () => {
  const [one, two] = [seal(secret, 'a secret link', 'mail:1'), seal(secret, 'a secret link', 'mail:1')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('secret link')).toBe(false);
});

test('what was moved, changed or cut does not open, and another secret is told apart', () => {
  const sealed = seal(secret, 'a link', 'mail:1');
  const why = (bytes: Uint8Array, context = 'mail:1', key = secret) => {
    try {
      open(key, bytes, context);
      return 'opened';
    } catch (error) {
      return error instanceof SealBroken ? error.because : error;
    }
  };
  expect(why(sealed, 'mail:2')).toBe('changed');
  expect(why(sealed, 'mail:1', openKeyring(`${text}!`, []))).toBe('other key');
  for (let length = 0; length < sealed.length; length++) expect(why(sealed.subarray(0, length))).not.toBe('opened');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(['changed', 'other key']).toContain(why(changed));
  }
});
