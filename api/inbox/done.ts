/** Items that an account has marked as done. An item returns if its thing changes afterwards. */
import { type RawQueryFragment, raw } from '@mikro-orm/core';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { InboxItem, InboxKind } from './item.ts';

/** An item that is open for longer returns. */
const keptMs = 365 * dayMs;

/** When each item that is done last changed, by kind and id. */
export type Done = ReadonlyMap<string, number>;

export const keyOf = ({ kind, id }: Pick<InboxItem, 'kind' | 'id'>) => `${kind} ${id}`;

/** Which of these items are done. */
export async function readDone(
  em: EntityManager,
  accountId: string,
  items: readonly Pick<InboxItem, 'kind' | 'id'>[],
): Promise<Done> {
  if (items.length === 0) return new Map();
  const rows = await em.execute<DoneRow[]>(
    `select done.kind, subject_id as id, item_at from inbox_done done
     join jsonb_to_recordset(?) as item(kind text, id text) on done.kind = item.kind and subject_id = item.id
     where account_id = ?`,
    [JSON.stringify(items.map(({ kind, id }) => ({ kind, id }))), accountId],
  );
  return doneOf(rows);
}

export type DoneRow = { kind: InboxKind; id: string; item_at: string | Date };
export const doneOf = (rows: readonly DoneRow[]): Done =>
  new Map(rows.map((row) => [keyOf(row), new Date(row.item_at).getTime()]));

/** As SQL: the domains that are done, for which SQL cannot say when they last changed. Its parameter is the account's id. */
export const doneDomains = `select kind, subject_id as id, item_at from inbox_done where account_id = ? and kind = 'domain'`;

/** The columns of a source's rows that identify an item and say when it last changed. */
type ItemColumns = { kind: InboxKind; id: string; at: string };

/**
 * A condition of SQL that leaves out what is done, so that a source reads no more than its limit. Its only parameter is
 * the account's id. Columns have microseconds, `item_at` has milliseconds.
 */
export function notDone({ kind, id, at }: ItemColumns): string {
  return `not exists (
    select 1 from inbox_done where account_id = ? and kind = '${kind}' and subject_id = ${id}
      and ${at} < item_at + interval '1 millisecond')`;
}

/** The same as a condition of a find: `{ [unfinished(…)]: [] }`. `at` is a column of the found row. */
export function unfinished(accountId: string, { kind, at }: Omit<ItemColumns, 'id'>): RawQueryFragment & symbol {
  return raw((alias) => notDone({ kind, id: `${alias}.id`, at: `${alias}.${at}` }), [accountId]);
}

export function isDone(done: Done, item: InboxItem): boolean {
  const at = done.get(keyOf(item));
  return at !== undefined && item.at.getTime() <= at;
}

/** Marks the items as done for the account, in the state in which it has read them. */
export async function markDone(
  em: EntityManager,
  accountId: string,
  items: readonly Pick<InboxItem, 'kind' | 'id' | 'at'>[],
  now: Date,
): Promise<void> {
  await em.execute(
    `insert into inbox_done (account_id, kind, subject_id, item_at, done_at)
     select ?, kind, id, at, ? from jsonb_to_recordset(?) as item(kind text, id text, at timestamptz)
     on conflict (account_id, kind, subject_id) do update set item_at = excluded.item_at, done_at = excluded.done_at`,
    [accountId, now, JSON.stringify(items.map(({ kind, id, at }) => ({ kind, id, at })))],
  );
}

export async function sweepDone(em: EntityManager, now: Date): Promise<void> {
  await em.execute('delete from inbox_done where done_at < ?', [new Date(now.getTime() - keptMs)]);
}
