/** The caller's inbox over all kinds and sites, newest first. */

import { type Person, siteIdsOf } from '#api/access.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import type { InboxItem } from './item.ts';
import { sources } from './sources.ts';

/** The items, and the topics that can add to them: the account and the sites that it has access to. */
export type Inbox = { items: InboxItem[]; topics: ReadonlySet<string> };

/** Items that appeared after `since`; all items without it. */
export async function readInbox(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  person: Person,
  since: Date | undefined,
): Promise<Inbox> {
  const siteIds = await siteIdsOf(em, person);
  const context = { config, now: clock.now() };
  const items: InboxItem[] = [];
  // Sequentially, so that a request uses one database connection at a time.
  for (const source of sources)
    items.push(...(await source(em, { ...person, siteIds }, since ?? new Date(0), context)));
  return { items: items.sort(newestFirst), topics: new Set([person.accountId, ...siteIds]) };
}

function newestFirst(a: InboxItem, b: InboxItem): number {
  return positionOf(a) < positionOf(b) ? 1 : -1;
}

/** The position of an item in the list, for cursors. */
export function positionOf({ at, kind, id }: InboxItem): string {
  return `${at.toISOString()} ${kind} ${id}`;
}
