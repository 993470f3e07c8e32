/** Comment threads: opened, answered, resolved and reopened, by an agent or by a person in a browser. */

import { LockMode } from '@mikro-orm/core';
import { findSite, loadSite, type Person, requireActive, roleOf } from '#api/access.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Account } from '#db/accounts/account.ts';
import { CommentMessage } from '#db/comments/comment-message.ts';
import { CommentThread } from '#db/comments/comment-thread.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { lockSiteForKeyShare } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import type { AuthorKind, CommentPosition } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { storePicture } from './picture.ts';
import type { CommentInput } from './schemas.ts';

/** The author, and whether a person or an agent. `name`: what a reviewer typed as their name. `isSession`: signed in. */
export type Author = Person & { kind: AuthorKind; name?: string | undefined; isSession?: boolean };

const messagesMax = 500;
/** Characters of all messages of a thread together: a page of the list contains 200 whole threads. */
const threadLengthMax = 60_000;
const withMessages = ['messages.account'] as const;

export type NewThread = {
  id: string;
  messageId: string;
  page: string;
  body: string;
  position?: CommentInput['position'];
  screenshot_base64?: string | undefined;
  /** Why there is no picture, if the overlay knows. */
  missing?: string | undefined;
  /** The deployment that was viewed, unless it is the live one. */
  deploymentId?: string | null;
};

/** Opens a thread. Throws `site_archived`, `no_storage`, `invalid_file`, `plan_limit`. */
export async function openThread(
  em: EntityManager,
  deps: Deps,
  author: Author,
  siteId: string,
  input: NewThread,
): Promise<CommentThread> {
  const site = await loadSite(em, author, siteId);
  requireActive(site);
  const { screenshot_base64: sent } = input;
  const picture = sent === undefined ? undefined : await storePicture(deps, sent);
  const now = deps.clock.now();
  await em.transactional(async (tx) => {
    await lockSiteForKeyShare(tx, site.id);
    await requireCommentLimit(tx, deps, author, site);
    const thread = tx.create(CommentThread, {
      id: input.id,
      site: tx.getReference(Site, site.id),
      status: 'open',
      page: input.page,
      position: input.position ? wholePosition(input.position) : null,
      deploymentId: input.deploymentId === undefined ? (site.liveDeploymentId ?? null) : input.deploymentId,
      pictureSha256: picture?.sha256 ?? null,
      pictureType: picture?.type ?? null,
      pictureMissing: picture ? null : (input.missing ?? 'No screenshot was sent with the comment.'),
      createdAt: now,
      changedAt: now,
    });
    addMessage(tx, author, thread, { id: input.messageId, body: input.body, now });
  });
  return await loadThread(em, author, input.id);
}

/** Adds a message. A call that is repeated with the same `messageId` adds it once. */
export async function replyTo(
  em: EntityManager,
  deps: Deps,
  author: Author,
  threadId: string,
  input: { messageId: string; message: string },
): Promise<CommentThread> {
  const { messageId, message } = input;
  return await changeThread(em, deps, author, { threadId, messageId }, async (tx, thread, now) => {
    await requireThreadLimit(tx, threadId);
    addMessage(tx, author, thread, { id: messageId, body: message, now });
  });
}

export type ThreadChange = { messageId: string; action: 'resolve' | 'reopen'; note?: string | undefined };

/** Resolves or reopens the thread. The same status again changes nothing; a note is still added as a message. */
export async function changeThreadStatus(
  em: EntityManager,
  deps: Deps,
  author: Author,
  threadId: string,
  { messageId, action, note }: ThreadChange,
): Promise<CommentThread> {
  return await changeThread(em, deps, author, { threadId, messageId }, async (tx, thread, now) => {
    const status = action === 'resolve' ? 'resolved' : 'open';
    if (thread.status !== status) {
      if (status === 'open') await requireCommentLimit(tx, deps, author, await tx.findOneOrFail(Site, thread.site.id));
      thread.status = status;
      thread.resolvedAt = status === 'resolved' ? now : null;
      thread.changedAt = now;
      const site = await tx.findOneOrFail(Site, thread.site.id);
      const done = action === 'resolve' ? 'comment.resolved' : 'comment.reopened';
      recordAct(tx, deps.clock, author, done, { site, subject: { id: thread.id, name: null } });
    }
    if (!note) return;
    await requireThreadLimit(tx, threadId);
    addMessage(tx, author, thread, { id: messageId, body: note, now });
  });
}

type Change = (tx: EntityManager, thread: CommentThread, now: Date) => Promise<void>;

/** Runs a change under the thread's lock, unless an earlier attempt already added its message. */
async function changeThread(
  em: EntityManager,
  { clock }: Deps,
  author: Author,
  { threadId, messageId }: { threadId: string; messageId: string },
  change: Change,
): Promise<CommentThread> {
  const { site } = await findThread(em, author, threadId);
  requireActive(site as Site);
  await em.transactional(async (tx) => {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const thread = await tx.findOneOrFail(CommentThread, threadId, lock);
    if ((await tx.count(CommentMessage, { id: messageId })) > 0) return;
    await change(tx, thread, clock.now());
  });
  return await loadThread(em, author, threadId);
}

function addMessage(
  tx: EntityManager,
  { accountId, kind, name, via, isSession: signedIn = false }: Author,
  thread: CommentThread,
  { id, body, now }: { id: string; body: string; now: Date },
): void {
  const account = tx.getReference(Account, accountId);
  const authorName = name ?? via?.name ?? null;
  tx.create(CommentMessage, { id, thread, account, authorKind: kind, authorName, signedIn, body, createdAt: now });
  thread.changedAt = now;
}

/** The thread with its messages, if the caller may act on its site. */
export async function loadThread(em: EntityManager, person: Person, threadId: string): Promise<CommentThread> {
  const thread = await findThread(em, person, threadId);
  await em.populate(thread, withMessages, { refresh: true });
  return thread;
}

/** The thread with its site, without its messages. */
export async function findThread(em: EntityManager, person: Person, threadId: string): Promise<CommentThread> {
  const thread = isId('thread', threadId) ? await em.findOne(CommentThread, { id: threadId }, { refresh: true }) : null;
  if (thread && (await findSite(em, person, thread.site.id))) return thread;
  throw errors.not_found('No comment thread with this id is accessible here.', {
    nextAction: `Call ${call('comment.list')} to list a site’s threads.`,
  });
}

/** The bytes of a thread's picture. Throws `not_found` with the reason if there is none. */
export async function readPicture(em: EntityManager, deps: Deps, person: Person, threadId: string) {
  const thread = await findThread(em, person, threadId);
  const { pictureSha256, pictureType, pictureMissing } = thread;
  if (!pictureSha256 || !pictureType) throw errors.not_found(`This comment has no screenshot: ${pictureMissing}`);
  const bytes = await deps.store.readAll(pictureSha256);
  if (!bytes) throw errors.missing_asset('The screenshot of this comment is missing from storage.');
  return { bytes, type: pictureType };
}

function wholePosition(sent: NonNullable<CommentInput['position']>): CommentPosition {
  const { selector = null, quote = null, x = null, y = null, within = null, viewport = null } = sent;
  return { selector, quote, x, y, within, viewport };
}

async function requireCommentLimit(tx: EntityManager, deps: Deps, author: Person, site: Site): Promise<void> {
  await countWithinLimit(tx, deps, {
    limit: 'open_comments_per_site',
    accountId: site.account.id,
    by: roleOf(site, author),
    count: () => tx.count(CommentThread, { site: site.id, status: 'open' }),
    what: 'open comments per site',
    holder: 'this site',
    nextAction: 'Resolve threads that have been dealt with.',
  });
}

async function requireThreadLimit(tx: EntityManager, threadId: string): Promise<void> {
  const sql =
    'select count(*)::int as messages, sum(length(body))::int as characters from comment_message where thread_id = ?';
  const [said] = await tx.execute<{ messages: number; characters: number }[]>(sql, [threadId]);
  if (!said || (said.messages < messagesMax && said.characters < threadLengthMax)) return;
  throw errors.plan_limit(
    `This thread is full: a thread can have at most ${messagesMax} messages and ${threadLengthMax} characters in total.`,
    { nextAction: 'Start a new thread to continue.' },
  );
}
