/** Calls of the platform with the review key. */
import { readKey, storeKey } from './key.js';
import { askName, authorName, keepName } from './name.js';

const { site = '' } = document.querySelector('main')?.dataset ?? {};
let key = readKey(site);
let ended = false;

export const hasKey = () => key !== null;
/** Whether the link of the key has ended. The key stays stored, so that the next page finds that too. */
export const hasEnded = () => ended;

/** The link has ended: nothing can be sent any more. */
export function endReview() {
  key = null;
  ended = true;
}

/** @param {string | null} next Null removes it. */
export function setKey(next) {
  key = next;
  ended = false;
  storeKey(site, next);
}

/**
 * Throws an `Error` whose message is for the reviewer, with the error code as its cause.
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
  const isOfLink = path === 'threads' && !body && [401, 404].includes(response.status);
  if (isOfLink || parsed.error?.code === 'expired') endReview();
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
