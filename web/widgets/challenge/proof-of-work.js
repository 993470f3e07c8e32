/** The proof of work (ALTCHA, PBKDF2), solved with the browser's Web Crypto API. */

/**
 * @typedef {{ nonce: string, salt: string, cost: number, keyLength: number, keyPrefix: string }} Parameters
 */

/**
 * The solution as the server expects it. Throws an `AbortError` if the signal aborts.
 * @param {{ parameters: Parameters }} challenge
 * @param {AbortSignal} signal
 */
export async function solve(challenge, signal) {
  const { parameters } = challenge;
  const parallel = Math.min(8, Math.max(2, navigator.hardwareConcurrency || 2));
  for (let from = 0; !signal.aborted; from += parallel) {
    const counters = Array.from({ length: parallel }, (_, ahead) => from + ahead);
    const keys = await Promise.all(counters.map((counter) => derivedKey(parameters, counter)));
    const found = keys.findIndex((key) => key.startsWith(parameters.keyPrefix));
    if (found < 0) continue;
    const solution = { counter: from + found, derivedKey: keys[found] };
    return btoa(JSON.stringify({ challenge, solution }));
  }
  throw new DOMException('The widget was removed from the page.', 'AbortError');
}

/**
 * @param {Parameters} parameters
 * @param {number} counter
 */
async function derivedKey({ nonce, salt, cost, keyLength }, counter) {
  const start = bytes(nonce);
  const password = new Uint8Array(start.length + 4);
  password.set(start);
  new DataView(password.buffer).setUint32(start.length, counter);
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations: cost };
  return hex(await crypto.subtle.deriveBits(algorithm, key, keyLength * 8));
}

/** @param {string} text */
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** @param {ArrayBuffer} buffer */
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
