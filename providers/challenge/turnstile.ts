/** An external verifier: its widget gets a token, which we verify over HTTP. Several services use this protocol. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import type { Challenge, Verdict } from './challenge.ts';

const timeoutMs = 5_000;
/** The verifier accepts a token for five minutes. */
const rememberedMs = 15 * minuteMs;
const answer = z.object({ success: z.boolean(), 'error-codes': z.array(z.string()).default([]) });

export function openTurnstile(
  { key, siteKey, url }: { key: string; siteKey: string; url: string },
  clock: Clock,
): Challenge {
  const shown = {
    kind: 'hosted',
    scriptUrl: `${url}/turnstile/v0/api.js`,
    elementClass: 'cf-turnstile',
    siteKey,
  } as const;
  return {
    shown,
    answers: ['cf-turnstile-response', 'altcha'],
    issue: async () => ({ kind: 'hosted', site_key: siteKey, script_url: shown.scriptUrl }),
    async verify(_subject, token): Promise<Verdict> {
      if (token.length > 2_048) return { ok: false, expired: false };
      const { success, 'error-codes': codes } = await ask(`${url}/turnstile/v0/siteverify`, {
        secret: key,
        response: token,
      });
      if (!success) return { ok: false, expired: codes.includes('timeout-or-duplicate') };
      const once = createHash('sha256').update(token).digest();
      return { ok: true, once, expiresAt: new Date(clock.now().getTime() + rememberedMs) };
    },
  };
}

async function ask(address: string, body: Record<string, string>): Promise<z.output<typeof answer>> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status >= 500) throw new Error(`the verification service responded with ${response.status}`);
    return answer.parse(await response.json());
  } catch (cause) {
    throw errors.provider_error('The spam check could not be completed.', {
      nextAction: 'Submit the form again in a moment.',
      retryable: true,
      cause,
    });
  }
}
