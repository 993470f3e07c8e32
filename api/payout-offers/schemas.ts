import type { Loaded } from '@mikro-orm/core';
import { z } from 'zod';
import type { Person } from '#api/access.ts';
import { moment } from '#api/schemas.ts';
import type { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import type { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { call } from '#rules/calls/calls.ts';
import { payoutOfferStatusAt } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';

export const fromSiteInput = z.strictObject({
  payout_account_id: z
    .string()
    .max(100)
    .describe('A payout account that belongs to another account. Ask its owner for the id.'),
});
export const fromAccountInput = z.strictObject({
  hostname: z.string().min(1).max(300).describe('Any hostname on which the site is served.'),
});
export const attachInput = z.strictObject({
  payout_account_id: z.string().max(100).describe('The id of one of your own payout accounts.'),
});

const party = z.enum(['site', 'payout_account']);
const parties = {
  site: z.object({ id: z.string(), hostname: z.string() }),
  payout_account: z.object({ id: z.string(), name: z.string() }),
};
const unnamed = z.object({
  id: z.string(),
  name: z.string().nullable().describe('Null until its owner has offered it or accepted the offer.'),
});

export const payoutOfferSchema = z
  .object({
    id: z.string(),
    ...parties,
    payout_account: unnamed,
    opened_by: party,
    status: z.enum(['open', 'accepted', 'expired', 'withdrawn']),
    yours_to_answer: z.boolean().describe('Whether this account has to accept or decline the offer.'),
    expires_at: moment,
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'PayoutOffer' });

export const payoutAgreementSchema = z
  .object({
    ...parties,
    status: z.enum(['active', 'ended']),
    since: moment,
    ended_at: moment.nullable(),
    ended_by: party.nullable(),
  })
  .meta({ id: 'PayoutAgreement' });

export const whole = { populate: ['site', 'payoutAccount'] } as const;
export type WholeOffer = Loaded<PayoutOffer, 'site' | 'payoutAccount'>;
export type WholeAgreement = Loaded<PayoutAgreement, 'site' | 'payoutAccount'>;

function partiesView({ site, payoutAccount }: Pick<WholeOffer, 'site' | 'payoutAccount'>, config: Config) {
  return {
    site: { id: site.id, hostname: siteHostname(config, site.name) },
    payout_account: { id: payoutAccount.id, name: payoutAccount.name },
  };
}

/** The account that has to answer. */
export function answererOf({ openedBy, site, payoutAccount }: WholeOffer): string {
  return openedBy === 'site' ? payoutAccount.account.id : site.account.id;
}

export function payoutOfferView(
  offer: WholeOffer,
  { config, now, person }: { config: Config; now: Date; person: Person },
): z.output<typeof payoutOfferSchema> {
  const { id, openedBy, expiresAt, createdAt } = offer;
  const status = payoutOfferStatusAt(offer, now);
  const yours = status === 'open' && answererOf(offer) === person.accountId;
  const { payout_account, ...others } = partiesView(offer, config);
  // Anyone who knows a payout account's id can send it an offer. The offer must not reveal its name.
  const isAgreed = openedBy === 'payout_account' || status === 'accepted';
  const isNamed = isAgreed || offer.payoutAccount.account.id === person.accountId;
  return {
    id,
    ...others,
    payout_account: isNamed ? payout_account : { ...payout_account, name: null },
    opened_by: openedBy,
    status,
    yours_to_answer: yours,
    expires_at: expiresAt,
    created_at: createdAt,
    ...(status === 'open' ? { next_action: yours ? answer(id) : wait(id) } : {}),
  };
}

const answer = (id: string) =>
  `Ask the owner of this account whether to accept. To accept, call ${call('payout_offer.accept', { id })}; to decline, call ${call('payout_offer.end', { id })}.`;
const wait = (id: string) =>
  `Tell the other party about the offer, because the platform sends no e-mail. Call ${call('payout_offer.read', { id })} again later, or withdraw the offer with ${call('payout_offer.end', { id })}.`;

export function payoutAgreementView(agreement: WholeAgreement, config: Config): z.output<typeof payoutAgreementSchema> {
  const { beganAt, endedAt, endedBy } = agreement;
  return {
    ...partiesView(agreement, config),
    status: endedAt ? 'ended' : 'active',
    since: beganAt,
    ended_at: endedAt ?? null,
    ended_by: endedBy ?? null,
  };
}
