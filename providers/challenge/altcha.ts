/**
 * ALTCHA (version 2 of its proof of work): the browser searches for the number whose PBKDF2 key begins as the challenge
 * requires. It needs no service, cookie or address. A person notices half a second; a program that sends thousands pays
 * for each.
 */

import { createHash } from 'node:crypto';
import { createChallenge, randomInt, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Challenge, Verdict } from './challenge.ts';

/** Long enough to write a long message. */
const validMs = hourMs;
/** Rounds of one attempt. The rest of the work is the number of attempts. */
const cost = 1_000;

const solutionSchema = z.object({
  challenge: z.object({
    parameters: z.object({
      algorithm: z.literal('PBKDF2/SHA-256'),
      nonce: z.string().regex(/^[0-9a-f]{32}$/),
      salt: z.string().regex(/^[0-9a-f]{32}$/),
      cost: z.literal(cost),
      keyLength: z.literal(32),
      keyPrefix: z.string().regex(/^[0-9a-f]{32}$/),
      keySignature: z.string().regex(/^[0-9a-f]{64}$/),
      expiresAt: z.int(),
      data: z.object({ subject: z.string() }),
    }),
    signature: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  solution: z.object({ counter: z.int().min(0).max(0xffffffff), derivedKey: z.string().regex(/^[0-9a-f]{64}$/) }),
});

export function openAltcha({ key, rounds }: { key: string; rounds: number }, clock: Clock): Challenge {
  const secrets = { hmacSignatureSecret: `challenge ${key}`, hmacKeySignatureSecret: `solution ${key}` };
  const tries = Math.max(1, Math.round(rounds / cost));

  return {
    shown: { kind: 'altcha' },
    answers: ['altcha'],
    async issue(subject) {
      const challenge = await createChallenge({
        algorithm: 'PBKDF2/SHA-256',
        cost,
        // From a half to one and a half times the usual work: never zero, never unlimited.
        counter: randomInt(Math.ceil(tries * 1.5), Math.max(1, Math.floor(tries / 2))),
        data: { subject },
        deriveKey,
        expiresAt: new Date(clock.now().getTime() + validMs),
        ...secrets,
      });
      return { ...challenge };
    },
    async verify(subject, text): Promise<Verdict> {
      const sent = readSolution(text);
      if (!sent) return { ok: false, expired: false };
      const { challenge, solution } = sent;
      const expiresAt = new Date(challenge.parameters.expiresAt * 1000);
      if (challenge.parameters.data.subject !== subject) return { ok: false, expired: false };
      if (expiresAt <= clock.now()) return { ok: false, expired: true };
      const { verified } = await verifySolution({ challenge, solution, deriveKey, ...secrets });
      if (!verified) return { ok: false, expired: false };
      return { ok: true, once: createHash('sha256').update(challenge.signature).digest(), expiresAt };
    },
  };
}

/** JSON in base64, as the widget sends it. */
function readSolution(text: string): z.output<typeof solutionSchema> | undefined {
  if (text.length > 4_000) return undefined;
  try {
    const parsed = solutionSchema.safeParse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
