/**
 * Agreements between a site and a payout account that the other party has ended, until the site has a payout account
 * again, or for the account's owner this one. Neither party learns the name of the other.
 */
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { notDone } from './done.ts';
import { newsSince, type Source, siteIdsIn } from './item.ts';

const sql = `
  with ended as (
    select agreement.id, agreement.site_id, agreement.payout_account_id, agreement.ended_at, agreement.ended_by
    from payout_agreement agreement join site on site.id = agreement.site_id and site.status = 'active'
    where agreement.site_id = any(?) and agreement.ended_at > ? and agreement.ended_by = 'payout_account' and site.account_id = ?
    union all
    select agreement.id, agreement.site_id, agreement.payout_account_id, agreement.ended_at, agreement.ended_by
    from payout_account mine join payout_agreement agreement on agreement.payout_account_id = mine.id
    where mine.account_id = ? and agreement.ended_at > ? and agreement.ended_by = 'site'
  )
  select ended.id, ended.ended_at as at, ended.ended_by as by, site.id as "siteId", site.name as "siteName", payout_account.name as "payoutName"
  from ended
  join site on site.id = ended.site_id and site.purged_at is null
  join payout_account on payout_account.id = ended.payout_account_id
  where site.account_id <> payout_account.account_id
    and not exists (select 1 from payout_agreement again where again.site_id = ended.site_id and again.ended_at is null
      and (ended.ended_by = 'payout_account' or again.payout_account_id = ended.payout_account_id))
    and ${notDone({ kind: 'agreement_ended', id: 'ended.id', at: 'ended.ended_at' })}
  order by ended.ended_at desc limit ?`;

type Row = Record<'id' | 'siteId' | 'siteName' | 'payoutName', string> & {
  by: 'site' | 'payout_account';
  at: string | Date;
};

export const endedAgreements: Source<Row> = {
  kind: 'agreement_ended',
  select(reader, since, { now, limit }) {
    const { accountId, scope } = reader;
    if (!scope.payouts) return null;
    const after = newsSince(since, now);
    return { sql, values: [siteIdsIn(reader), after, accountId, accountId, after, accountId, limit] };
  },
  item({ id, at, by, siteId, siteName, payoutName }, _, { config }) {
    const host = siteHostname(config, siteName);
    const isSites = by === 'payout_account';
    return {
      id,
      site: { id: siteId, name: siteName },
      at: new Date(at),
      title: isSites
        ? `The payout account “${payoutName}” was disconnected from ${host}, which cannot accept payments until it has another one.`
        : `${host} no longer uses your payout account “${payoutName}”.`,
      nextAction: isSites
        ? `Tell the owner. Connect one of their payout accounts with ${call('payout_agreement.attach', { id: siteId })}.`
        : 'Tell the owner. Payments that were already made stay in the payout account.',
    };
  },
};
