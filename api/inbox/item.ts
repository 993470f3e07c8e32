/** The interface of the inbox's sources. A new kind of item is a source, added in `sources.ts`. */

import type { Person } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';

/** The kinds of items. They are part of the API. */
export const inboxKinds = [
  'open_comment',
  'new_submission',
  'new_booking',
  'payment_paid',
  'refund_failed',
  'payout_offer',
  'invitation',
  'failed_build',
  'domain',
  'photos_arrived',
  'sketch_chosen',
  'collaborator_published',
  'push_published',
  'invitation_accepted',
  'agreement_ended',
  'access_to_widen',
  'blocked_site',
] as const;
export type InboxKind = (typeof inboxKinds)[number];

export type InboxItem = {
  kind: InboxKind;
  /** The id of the thread, invitation, … */
  id: string;
  site: { id: string; name: string } | null;
  /** The preview slot that it is about. */
  slot?: number | null;
  /** The name of the person or agent that acted, if the reader may know it. */
  who?: string | null;
  /** When the item appeared. */
  at: Date;
  /** One line that can be relayed to an owner. */
  title: string;
  /** Text of the item itself, written by someone else than the platform. */
  message?: string;
  nextAction: string;
  /** The message in words for an owner. */
  plain?: string;
  /** Of a comment: whether the reader answered it while signed in, so that it waits for their agents alone. */
  isAnswered?: boolean;
  /** Of a refused call: what it was, and the path of the page that answers it. */
  refusal?: { attempt: string; page: string };
  /** Where it can be seen, outside the console. */
  address?: string;
  /** Of a domain that shows no site: its name, and when it was added. */
  freeDomain?: { name: string; addedAt: Date };
  /** Of a payment: the booking that it was for, and the amount in words. */
  booking?: { id: string; paid: string };
  /** The path of the newest photo that arrived. */
  photo?: string;
  /** Of an invitation: name and address of who invites, and until when it can be accepted. */
  invitation?: { inviter: string; expiresAt: Date };
};

/** The caller, with the names of the sites that they have access to, by id. */
export type Reader = Person & { sites: ReadonlyMap<string, string> };

/** The ids of the reader's sites, as a parameter of SQL. */
export const siteIdsIn = ({ sites }: Reader): string => textArray([...sites.keys()]);

/** `evenDone`: whether invitations and refused calls are listed although they are marked as done. */
export type Context = { config: Config; now: Date; limit: number; evenDone: boolean };

/**
 * One kind of item as SQL: the inbox reads all of these in one statement. It returns the reader's items since this time,
 * newest first, up to `limit`. Items that are done do not count: SQL leaves them out. Null if the reader has none of this
 * kind. Where an item appears, the transaction must call `notifyInbox`, or a trigger of the table `tell_inbox`, which
 * wakes waiting requests.
 */
export type Source<Row = unknown> = {
  kind: InboxKind;
  select(reader: Reader, since: Date, context: Context): Statement | null;
  item(row: Row, reader: Reader, context: Context): Omit<InboxItem, 'kind'>;
};
export type Statement = { sql: string; values: readonly unknown[] };

/** Like a `Source`, where more than SQL decides. What it returns may be done. */
export type CodeSource = (em: EntityManager, reader: Reader, since: Date, context: Context) => Promise<InboxItem[]>;

/** The columns of an item's site, as SQL. */
export const siteColumns = 'site.id as "siteId", site.name as "siteName", site.title as "siteTitle"';

/** As SQL: of sites that are closed too. What concerns visitors waits until it is dealt with. */
export const isArchived = `site.status = 'archived' as "isArchived"`;

/** What a title adds where the site is closed. */
export const archivedNote = ({ isArchived }: { isArchived: boolean }): string =>
  isArchived ? ' The site is archived.' : '';

/** How long an item stays that only reports what has happened. */
const newsMs = 30 * dayMs;

/** The time since which items that only report are listed. */
export const newsSince = (since: Date, now: Date): Date => new Date(Math.max(since.getTime(), now.getTime() - newsMs));

/** The name of who acted: of the reader's own token, or of the account. */
export function actorName(
  { accountId }: Pick<Reader, 'accountId'>,
  account: { id: string; name: string },
  tokenName: string | null | undefined,
): string {
  return account.id === accountId && tokenName ? tokenName : account.name;
}

/** The account whose marks of what is done count for questions that only the owner can answer; no account's for all. */
export const whoseDone = ({ accountId }: Pick<Reader, 'accountId'>, { evenDone }: Context): string =>
  evenDone ? '' : accountId;

/** Per source: the inbox lists the next tasks and is not an archive. */
export const itemsMax = 200;
