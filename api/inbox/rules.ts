/** The caller's inbox over all kinds and sites, newest first. */

import { type Person, siteNamesOf } from '#api/access.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { type DoneRow, doneDomains, doneOf, isDone, keyOf, markDone, readDone } from './done.ts';
import { type Context, type InboxItem, itemsMax, type Reader } from './item.ts';
import { codeSources, sources } from './sources.ts';

/** The items, and the topics that can add to them: the account and the sites that it has access to. */
export type Inbox = { items: InboxItem[]; topics: ReadonlySet<string> };

type Reading = { since?: Date | undefined; sites?: ReadonlyMap<string, string>; evenDone?: boolean };

/**
 * Items that appeared after `since` and are not marked as done; all items without it. `sites`: the names of the person's
 * sites, where they have been read. `evenDone`: also what only the owner can answer, although it is marked as done.
 */
export async function readInbox(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  person: Person,
  { since = new Date(0), sites, evenDone = false }: Reading = {},
): Promise<Inbox> {
  const reader: Reader = { ...person, sites: sites ?? (await siteNamesOf(em, person)) };
  const context = { config, now: clock.now(), limit: itemsMax, evenDone };
  const { items, done } = await readSources(em, reader, since, context);
  // Sequentially, so that a request uses one database connection at a time.
  for (const source of codeSources) {
    const found = await source(em, reader, since, context);
    items.push(...found.filter((item) => !isDone(done, item)).slice(0, itemsMax));
  }
  return { items: items.sort(newestFirst), topics: new Set([person.accountId, ...reader.sites.keys()]) };
}

/** The items of all sources, and what is done of others, in one query. */
async function readSources(em: EntityManager, reader: Reader, since: Date, context: Context) {
  const selected = sources.flatMap((source) => {
    const statement = source.select(reader, since, context);
    return statement ? [{ source, ...statement }] : [];
  });
  const statements = selected.map(
    ({ sql }, at) => `select ${at} as source, to_jsonb(found) as row from (${sql}) as found`,
  );
  const rows = await em.execute<{ source: number; row: unknown }[]>(
    [...statements, `select -1, to_jsonb(found) from (${doneDomains}) as found`].join(' union all '),
    [...selected.flatMap(({ values }) => values), reader.accountId],
  );
  const items = selected.flatMap(({ source }, at) =>
    rows
      .filter((row) => row.source === at)
      .map(({ row }): InboxItem => ({ kind: source.kind, ...source.item(row, reader, context) })),
  );
  return { items, done: doneOf(rows.filter(({ source }) => source === -1).map(({ row }) => row as DoneRow)) };
}

type ItemName = Pick<InboxItem, 'kind' | 'id'>;

/** Marks items as done. One that is done already stays so. Throws `not_found` if another is not in the inbox. */
export async function finishItems(
  em: EntityManager,
  deps: Pick<Deps, 'config' | 'clock'>,
  person: Person,
  names: readonly ItemName[],
): Promise<ItemName[]> {
  const { items } = await readInbox(em, deps, person);
  const done = await readDone(em, person.accountId, names);
  const isNamed = (item: ItemName) => names.some(({ kind, id }) => kind === item.kind && id === item.id);
  const unknown = names.find((name) => !isListed(items, name) && !done.has(keyOf(name)));
  if (unknown) {
    throw errors.not_found(`The inbox has no item ${unknown.kind} with the id ${unknown.id}.`, {
      nextAction: `Call ${call('inbox.read')}, and send kind and id of items that it lists.`,
    });
  }
  await markDone(em, person.accountId, items.filter(isNamed), deps.clock.now());
  return [...new Map(names.map(({ kind, id }) => [keyOf({ kind, id }), { kind, id }])).values()];
}

const isListed = (items: readonly InboxItem[], { kind, id }: ItemName) =>
  items.some((item) => item.kind === kind && item.id === id);

function newestFirst(a: InboxItem, b: InboxItem): number {
  return positionOf(a) < positionOf(b) ? 1 : -1;
}

/** The position of an item in the list, for cursors. */
export function positionOf({ at, kind, id }: InboxItem): string {
  return `${at.toISOString()} ${kind} ${id}`;
}
