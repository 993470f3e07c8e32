/** The live version of each of the reader's own sites, if a collaborator published or restored it. */
import { restoredOf } from '#db/history/restores.ts';
import { call } from '#rules/calls/calls.ts';
import { notDone } from './done.ts';
import { newsSince, type Source, siteColumns, siteIdsIn } from './item.ts';

const at = 'coalesce(restored.at, version.live_at)';
const sql = `
  select version.id, version.number, version.slot, ${at} as at, account.name as who,
    restored.actor_id is not null as "isRestored", ${siteColumns}
  from site
  join deployment version on version.id = site.live_deployment_id
  ${restoredOf('site', 'version')}
  join account on account.id = coalesce(restored.actor_id, version.created_by_id)
  where site.id = any(?) and site.account_id = ? and site.status = 'active' and account.id <> site.account_id
    and ${at} > ? and ${notDone({ kind: 'collaborator_published', id: 'version.id', at })}
  order by ${at} desc limit ?`;

type Row = Record<'id' | 'who' | 'siteId' | 'siteName' | 'siteTitle', string> & {
  number: number;
  slot: number | null;
  isRestored: boolean;
  at: string | Date;
};

export const collaboratorVersions: Source<Row> = {
  kind: 'collaborator_published',
  select(reader, since, { now, limit }) {
    const { accountId } = reader;
    return { sql, values: [siteIdsIn(reader), accountId, newsSince(since, now), accountId, limit] };
  },
  item({ id, number, slot, at, who, isRestored, siteId, siteName, siteTitle }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      slot,
      who,
      at: new Date(at),
      title: `${who} ${isRestored ? 'restored' : 'published'} version ${number} of ${siteTitle}.`,
      nextAction: `Tell the owner. ${call('deployment.read', { id })} returns the version; ${call('deployment.restore')} with the id of an earlier one, from ${call('deployment.list', { id: siteId })}, serves that version again.`,
    };
  },
};
