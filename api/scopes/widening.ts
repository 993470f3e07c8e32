/**
 * The link on which an owner widens a token, once or for good. It is signed, so an agent can only pass on a link to
 * something that it was refused, also where the inbox does not list that.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { payoutsPower, requireSettledAddress } from '#api/accounts/address-hold.ts';
import { Token } from '#db/auth/token.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { type PartOfScope, widened } from '#rules/scopes.ts';
import { dayMs } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';
import { allowOnce } from './allowances.ts';
import { answerRefusal } from './refusals.ts';

/** For how long a link works. */
export const linkMs = dayMs;
export const wideningPath = '/account/widen';

const partOfScope = z.strictObject({
  sites: z.union([z.literal('all'), z.array(z.string())]).optional(),
  access: z.literal('write').optional(),
  payouts: z.literal(true).optional(),
  account: z.literal(true).optional(),
});
const refusal = z.strictObject({
  token: z.string(),
  operation: z.string(),
  /** What the operation does, in a few words, and what it sets. */
  summary: z.string(),
  /** What the call acts on: its path, and a hash of what `summary` shows of its body. */
  subject: z.string(),
  missing: partOfScope,
  /** The call may do this, but may not give it to the token that it makes. */
  handsOn: z.literal(true).optional(),
  until: z.number(),
});

/** A call that was refused, as its link names it. */
export type Refusal = Omit<z.output<typeof refusal>, 'missing'> & { missing: PartOfScope };

/** The link for the owner. */
export function wideningLink({ baseUrl, secret }: Pick<Config, 'baseUrl' | 'secret'>, refused: Refusal): string {
  const payload = Buffer.from(JSON.stringify(refused)).toString('base64url');
  return `${baseUrl}${wideningPath}?ask=${payload}.${sign(secret, payload)}`;
}

/** What the link names. Throws `not_found` where it is not ours, and `expired`. */
export function readWideningLink({ secret }: Config, now: Date, ask: unknown): Refusal {
  const [payload = '', signature = '', ...rest] = typeof ask === 'string' ? ask.split('.') : [];
  const [wanted, sent] = [Buffer.from(sign(secret, payload)), Buffer.from(signature)];
  if (rest.length > 0 || sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) throw noSuchLink();
  const read = refusal.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())) as Refusal;
  if (read.until <= now.getTime())
    throw errors.expired('This link has expired. Ask your agent to try again; it gets a new one.');
  return read;
}

/** The refused token, if it belongs to the account. Throws `not_found`. */
export async function refusedToken(em: EntityManager, accountId: string, refused: Refusal): Promise<Token> {
  const token = await em.findOne(Token, { id: refused.token, account: accountId, revokedAt: null });
  if (token) return token;
  throw noSuchLink();
}

/** The owner gives the token nothing; the inbox no longer lists the call. Throws `not_found`. */
export async function refuseWidening(em: EntityManager, accountId: string, refused: Refusal): Promise<void> {
  await em.transactional(async (tx) => {
    await refusedToken(tx, accountId, refused);
    await answerRefusal(tx, refused, 'refused');
  });
}

/**
 * The owner's answer: `once` allows the named call for ten minutes, until it succeeds; `always` adds what is missing to
 * the token. Throws `not_found`, `address_change_pending`.
 */
export async function widenToken(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  accountId: string,
  refused: Refusal,
  answer: 'once' | 'always',
): Promise<void> {
  await em.transactional(async (tx) => {
    const { id } = await refusedToken(tx, accountId, refused);
    if (refused.missing.payouts) await requireSettledAddress(tx, clock, accountId, payoutsPower);
    await answerRefusal(tx, refused, answer);
    if (answer === 'once') return await allowOnce(tx, clock.now(), refused);
    // Under the lock of its row: two links may widen the token at the same time.
    await tx.execute('select 1 from token where id = ? for no key update', [id]);
    const token = await tx.findOneOrFail(Token, { id }, { refresh: true });
    token.scope = widened(token.scope, refused.missing);
    const detail = { added: refused.missing };
    recordAct(tx, clock, { accountId }, 'token.widened', { subject: token, detail });
  });
}

const noSuchLink = () =>
  errors.not_found('This link is not valid for the account that you are signed in to. Ask your agent for a new one.');

function sign(secret: string, payload: string): string {
  return createHmac('sha256', deriveKey(secret, 'widening link')).update(payload).digest('base64url');
}
