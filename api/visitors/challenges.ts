/** Challenges that visitors solve before they send something: forms always, bookings of busy sites. */

import type { EntityManager } from '#db/orm.ts';
import { useChallenge } from '#db/used-challenges.ts';
import type { Verdict } from '#providers/challenge/challenge.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

export type Solved = Extract<Verdict, { ok: true }>;

/** What is sent, for messages: `The form`; and the call that returns a new challenge. */
export type Challenged = { what: string; call: string };

/**
 * Checks a solution for a challenge of the form or site with this id. It counts once `requireUnused` has accepted it.
 * Throws `not_a_person`, `provider_error`.
 */
export async function verifySolution(
  { challenge }: Pick<Deps, 'challenge'>,
  subject: string,
  solution: string | undefined,
  challenged: Challenged,
): Promise<Solved> {
  if (solution === undefined || !challenge) throw notAPerson('The solved challenge is missing.', challenged);
  const verdict = await challenge.verify(subject, solution);
  if (verdict.ok) return verdict;
  throw notAPerson(
    verdict.expired ? 'The solved challenge has expired.' : 'The challenge was not solved correctly.',
    challenged,
  );
}

/** In the message for a solution that was used before: what it came with has arrived. */
export const alreadySent = 'has already been sent';

/** Marks the solution as used in the transaction of what was sent. Throws `not_a_person` where it was used before. */
export async function requireUnused(tx: EntityManager, solved: Solved, challenged: Challenged): Promise<void> {
  if (await useChallenge(tx, solved.once, solved.expiresAt)) return;
  throw notAPerson(`${challenged.what} ${alreadySent}: each challenge can be used only once.`, challenged);
}

export function notAPerson(message: string, { what, call }: Challenged): AppError {
  const again = `${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  return errors.not_a_person(message, {
    nextAction: `Get a new challenge with ${call}, solve it, and send ${again} again.`,
  });
}

/** For visitors' agents. */
export const howToSolve = {
  altcha:
    'GET the url; it returns { parameters, signature }. For n = 0, 1, 2 …, derive a key with PBKDF2-HMAC-SHA-256 from the password (the bytes of ' +
    'parameters.nonce, which is hex, followed by n as 4 bytes, big-endian) and the salt (the bytes of parameters.salt, which is hex), with ' +
    'parameters.cost iterations and a length of parameters.keyLength bytes. Stop when the key in hex begins with parameters.keyPrefix. The answer is ' +
    'the base64 encoding of the JSON { "challenge": <the response from the url>, "solution": { "counter": n, "derivedKey": <the key in hex> } }. ' +
    'Each challenge is accepted once, only for what this url belongs to, within one hour.',
  hosted: 'The widget on the page solves the challenge in a browser.',
} as const;
