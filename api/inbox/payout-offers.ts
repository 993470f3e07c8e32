/** Payout offers that the reader can answer. */
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { notDone } from './done.ts';
import { type Source, siteColumns, siteIdsIn } from './item.ts';

// Offers for an archived site cannot be answered.
const sql = `
  select offer.id, offer.created_at as at, payout_account.name as "payoutName", ${siteColumns}
  from payout_offer offer
  join site on site.id = offer.site_id and site.status = 'active'
  join payout_account on payout_account.id = offer.payout_account_id
  where offer.status = 'open' and offer.expires_at > ? and offer.created_at > ?
    and case when offer.opened_by = 'site' then payout_account.account_id else site.account_id end = ?
    and (?::boolean or site.id = any(?) or site.account_id <> ?)
    and ${notDone({ kind: 'payout_offer', id: 'offer.id', at: 'offer.created_at' })}
  order by offer.created_at desc limit ?`;

type Row = Record<'id' | 'at' | 'payoutName' | 'siteId' | 'siteName', string>;

export const payoutOffers: Source<Row> = {
  kind: 'payout_offer',
  select(reader, since, { now, limit }) {
    const { accountId, scope } = reader;
    if (!scope.payouts) return null;
    const isEverywhere = scope.sites === 'all';
    return { sql, values: [now, since, accountId, isEverywhere, siteIdsIn(reader), accountId, accountId, limit] };
  },
  item({ id, at, payoutName, siteId, siteName }, _, { config }) {
    const host = siteHostname(config, siteName);
    return {
      id,
      site: { id: siteId, name: siteName },
      at: new Date(at),
      title: `A payout offer is waiting for an answer: payments for ${host} would go to the payout account “${payoutName}”.`,
      nextAction: `Ask the owner of this account, then accept with ${call('payout_offer.accept', { id })} or decline with ${call('payout_offer.end', { id })}.`,
    };
  },
};
