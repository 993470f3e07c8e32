/** What a source of the inbox is. A new kind of news is one function of this type, named in `sources.ts`. */

import type { Person } from '#api/access.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Config } from '#runtime/config.ts';

/** What can wait for a caller. A kind is part of the contract. */
export const inboxKinds = [
  'open_comment',
  'new_submission',
  'new_booking',
  'payout_offer',
  'invitation',
  'failed_build',
  'domain',
  'blocked_site',
] as const;
export type InboxKind = (typeof inboxKinds)[number];

export type InboxItem = {
  kind: InboxKind;
  /** Of the thing that waits: a thread's, an invitation's, … */
  id: string;
  site: { id: string; name: string } | null;
  /** When it began to wait. */
  at: Date;
  /** One line, written to be relayed to an owner. */
  title: string;
  /** Words of the thing itself, where it has any: not the platform's. */
  message?: string;
  nextAction: string;
};

/** Who reads, with the sites that he may act on. */
export type Reader = Person & { siteIds: readonly string[] };

/**
 * What waits for the reader since after this moment, newest first and at most `itemsMax` of it. Where something begins to wait, a
 * trigger of the table calls `inbox_changed()` or `tell_inbox(<site id or account id>)`, so that callers who wait hear of it.
 */
export type Source = (
  em: EntityManager,
  reader: Reader,
  since: Date,
  context: { config: Config; now: Date },
) => Promise<InboxItem[]>;

/** Of each source: the inbox says what to do next, and is no archive. */
export const itemsMax = 200;
