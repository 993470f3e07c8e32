/** Solves a challenge of either kind. */
import { solve } from './proof-of-work.js';

/**
 * The solution as the server expects it. Throws an `AbortError` if the signal aborts.
 * @param {any} challenge as the server returned it
 * @param {import('./hosted-challenge.js').HostedChallenge} hosted
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
export async function solutionOf(challenge, hosted, signal) {
  return challenge.kind === 'hosted' ? await hosted.solve(challenge) : await solve(challenge, signal);
}
