/** Reading the history of a site and of an account, newest first. */
import { type Person, roleOf } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import { HistoryEntry } from '#db/history/history-entry.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { ReadEntry } from './schemas.ts';

/** A condition of SQL with its parameters. */
export type Condition = { where: string; values: unknown[] };
type Range = { since?: Date | undefined; after: string | undefined; limit: number };

/** Acts on the site: all for its owner; for collaborators those that are not the owner's alone. */
export function historyOfSite(site: Site, person: Person): Condition[] {
  const shared = roleOf(site, person) === 'owner' ? '' : ' and not owners_only';
  return [{ where: `site_id is not null and site_id = ?${shared}`, values: [site.id] }];
}

/** Acts on the account and on its sites, and what the account did on sites of others. A token limited to some sites sees only those of its sites. */
export function historyOfAccount({ accountId, scope: { sites } }: Person): Condition[] {
  const elsewhere = 'elsewhere_id is not null and elsewhere_id = ?';
  if (sites === 'all') {
    return [
      { where: 'owner_id = ?', values: [accountId] },
      { where: elsewhere, values: [accountId] },
    ];
  }
  return [
    ...sites.map((id) => ({ where: 'site_id is not null and site_id = ? and owner_id = ?', values: [id, accountId] })),
    { where: `${elsewhere} and site_id = any(?)`, values: [accountId, textArray(sites)] },
  ];
}

/** The position of an entry in the list. */
export const positionOf = ({ entry: { at, id } }: ReadEntry): string => `${at.toISOString()} ${id}`;

/** Reads entries that meet one of the conditions, newest first. */
export async function readHistory(
  em: EntityManager,
  conditions: readonly Condition[],
  range: Range,
): Promise<ReadEntry[]> {
  const { sql, values } = queryOf(conditions, range);
  const rows = await em.execute<(Record<string, unknown> & { actor_name: string | null })[]>(sql, values);
  return rows.map(({ actor_name: actorName, ...row }) => ({ entry: em.map(HistoryEntry, row), actorName }));
}

/** Each condition reads its own index, up to the limit. */
export function queryOf(conditions: readonly Condition[], { since, after, limit }: Range) {
  const range = rangeOf({ since, after });
  const order = 'order by at desc, id desc limit ?';
  const parts = conditions.map(({ where }) => `(select * from history_entry where ${where}${range.where} ${order})`);
  const sql = `select entry.*, account.name as actor_name from (${parts.join(' union all ')}) as entry
     left join account on account.id = entry.actor_id order by entry.at desc, entry.id desc limit ?`;
  return { sql, values: [...conditions.flatMap(({ values }) => [...values, ...range.values, limit]), limit] };
}

function rangeOf({ since, after }: Pick<Range, 'since' | 'after'>): Condition {
  const [at, id] = after?.split(' ') ?? [];
  return {
    where: `${since ? ' and at >= ?' : ''}${at ? ' and (at, id) < (?::timestamptz, ?)' : ''}`,
    values: [...(since ? [since] : []), ...(at ? [at, id] : [])],
  };
}
