/** `Prefer: wait=N` and `Prefer: respond-async` (RFC 7240). Invalid preferences are ignored, as section 2 requires. */
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';

const defaultMs = 20_000;
const maxSeconds = 50;

type Preference = { waitMs: number; applied: string | undefined };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the route has read `waitMs`. */
    preference: Preference | null;
  }
}

/**
 * Adds `request.waitMs`. A route that reads it has applied the preference, and the response says so. It reads it when it
 * begins to wait: its slot among the account's calls is free from then on.
 */
export function preferWaiting(app: Api): void {
  app.decorateRequest('preference', null);
  app.decorateRequest('leaveSlot', null);
  app.decorateRequest('waitMs', {
    getter(this: FastifyRequest) {
      this.leaveSlot?.();
      this.preference ??= readPreference(this.headers.prefer);
      return this.preference.waitMs;
    },
  });
  app.addHook('onSend', async (request, reply) => {
    if (request.preference?.applied) reply.header('preference-applied', request.preference.applied);
  });
}

/** The first preference of a kind counts (RFC 7240 section 2). The maximum is 50 s. */
export function readPreference(header: string | string[] | undefined): Preference {
  const preferences = [header ?? []].flat().join(',').split(',');
  for (const preference of preferences) {
    const [name = '', value] = (preference.split(';', 1)[0] ?? '').split('=').map((part) => part.trim());
    if (name.toLowerCase() === 'respond-async') return { waitMs: 0, applied: 'respond-async' };
    const seconds = /^"?(\d{1,9})"?$/.exec(value ?? '')?.[1];
    if (name.toLowerCase() !== 'wait' || seconds === undefined) continue;
    const granted = Math.min(Number(seconds), maxSeconds);
    return { waitMs: granted * 1000, applied: `wait=${granted}` };
  }
  return { waitMs: defaultMs, applied: undefined };
}
