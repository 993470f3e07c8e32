/** Calls of the platform with the review key. */
import { readKey, storeKey } from './key.js';
import { askName, authorName, keepName } from './name.js';

const { site = '' } = document.querySelector('main')?.dataset ?? {};
let key = readKey(site);

export const hasKey = () => key !== null;

/** @param {string | null} next Null removes it. */
export function setKey(next) {
  key = next;
  storeKey(site, next);
}

/**
 * Throws an `Error` whose message is for the reviewer, with the error code as its cause. An ended link loses its key.
 * @param {string} path
 * @param {object} [body]
 * @param {string} [idempotencyKey]
 */
export async function request(path, body, idempotencyKey = crypto.randomUUID()) {
  const response = await fetch(`/review/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      'x-review': key ?? '',
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': idempotencyKey } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => undefined);
  if (!response) throw new Error('The connection was lost. Your text is still here; please try again.');
  const parsed = await response.json().catch(() => ({}));
  if (response.ok) return parsed;
  if ([401, 404, 410].includes(response.status) && path === 'threads' && !body) setKey(null);
  const message = parsed.error?.message ?? 'Something went wrong on our side. Please try again in a moment.';
  throw new Error(message, { cause: parsed.error?.code });
}

/**
 * Sends with the reviewer's name, which is stored once it was accepted.
 * @type {typeof request}
 */
export async function requestNamed(path, body, idempotencyKey) {
  try {
    const answer = await request(path, { ...body, ...authorName() }, idempotencyKey);
    keepName();
    return answer;
  } catch (error) {
    if (error instanceof Error && error.cause === 'invalid_visitor') askName();
    throw error;
  }
}
