/** Calls that are sent again under one key until there is an answer: the process that had it may be dead. */
import { randomUUID } from 'node:crypto';
import { type Answer, type Call, callWith } from '#test/api/fixture.ts';

/** `baseOf` names the API to ask, each time anew. */
export function retriedCall(baseOf: () => string, token?: string): Call {
  return async (method, path, sent = {}) => {
    const headers = { 'idempotency-key': randomUUID(), ...sent.headers };
    for (;;) {
      const answer = await callWith(baseOf(), token)(method, path, { ...sent, headers }).catch(() => undefined);
      if (answer && !isWorthRetrying(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
}

/** A failure, another call under the same key that is not done, or calls that hold each other up. */
const isWorthRetrying = ({ status, body }: Answer) =>
  status >= 500 || ((status === 409 || status === 429) && body?.error?.retryable);
