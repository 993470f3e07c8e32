/**
 * Ownership of names: the SQL of `ownsName`. The trigger `domain_held` and the index `domain_one_holder` enforce it.
 */
import { sqlList } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { unproved } from '#rules/dns/evaluation.ts';
import { servedStatuses } from '#rules/states.ts';
import { Domain } from './domain.ts';

/** SQL: this row of `domain` owns its name. */
export const isOwnerSql = (domain: string): string =>
  `(${domain}.removed_at is null and ${domain}.proved_at is not null and ${domain}.status <> 'Deleted')`;

/** SQL: this row's name is `name`, an expression, or a name above it. */
const isAtOrAboveSql = (domain: string, name: string): string =>
  `(${domain}.name = ${name} or ${name} like '%.' || ${domain}.name)`;

/** SQL: this row has been without its proof for so long that another account may prove the same name. Its parameter is `claimableBefore`. */
const isClaimableSql = (domain: string): string =>
  `(${domain}.status in ${sqlList(servedStatuses)} and ${domain}.unproved_checks >= ${unproved.checks} and ${domain}.unproved_since <= ?)`;

/** A proof that has been missing since then no longer keeps the name. */
const claimableBefore = (now: Date) => new Date(now.getTime() - unproved.ms);

/** The domains of other accounts that lose the name when this one is proved. */
export async function lostTo(
  tx: EntityManager,
  now: Date,
  { id, name, account }: Pick<Domain, 'id' | 'name' | 'account'>,
): Promise<Domain[]> {
  const unprovedLong = {
    status: { $in: servedStatuses },
    unprovedChecks: { $gte: unproved.checks },
    unprovedSince: { $lte: claimableBefore(now) },
  };
  const lost = { $or: [{ status: 'Deleted' as const }, unprovedLong] };
  return await tx.find(Domain, { name, removedAt: null, id: { $ne: id }, account: { $ne: account }, ...lost });
}

type NameClaim = { name: string; registrable: string; accountId: string };

/** Whether another account owns the name, or a name above it, and this one cannot claim it. */
export async function isOwnedByAnother(
  em: EntityManager,
  now: Date,
  { name, registrable, accountId }: NameClaim,
): Promise<boolean> {
  const held = await em.execute(
    `select 1 from domain held where held.registrable = ? and held.account_id <> ? and ${isOwnerSql('held')}
       and ${isAtOrAboveSql('held', '?')} and not (held.name = ? and ${isClaimableSql('held')}) limit 1`,
    [registrable, accountId, name, name, name, claimableBefore(now)],
  );
  return held.length > 0;
}

/** The domains whose name, or a name above it, is owned by another account, and since when. */
export async function ownedByOthers(em: EntityManager, now: Date, ids: readonly string[]): Promise<Map<string, Date>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; since: Date }[] = await em.execute(
    `select own.id, max(held.proved_at) as since from domain own join domain held on held.registrable = own.registrable
       and held.account_id <> own.account_id and ${isOwnerSql('held')} and ${isAtOrAboveSql('held', 'own.name')}
       and not (held.name = own.name and ${isClaimableSql('held')})
     where own.id = any(?) group by own.id`,
    [claimableBefore(now), `{${ids.join(',')}}`],
  );
  return new Map(rows.map(({ id, since }) => [id, new Date(since)]));
}

/**
 * Whether the operator has blocked the name, or a name above it: for every account if it was proved, otherwise for the
 * account that added it. Removing the domain does not lift the block.
 */
export async function isNameBlocked(em: EntityManager, { name, registrable, accountId }: NameClaim): Promise<boolean> {
  const stopped = await em.execute(
    `select 1 from domain stopped where stopped.registrable = ? and stopped.status = 'Blocked'
       and (stopped.proved_at is not null or stopped.account_id = ?) and ${isAtOrAboveSql('stopped', '?')} limit 1`,
    [registrable, accountId, name, name],
  );
  return stopped.length > 0;
}
