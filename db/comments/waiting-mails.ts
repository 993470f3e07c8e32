/** E-mails to owners about comments of reviewers that nobody has answered for an hour. */
import { wantsMail } from '#db/accounts/mail-choices.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { queueMail } from '#db/mail/queue.ts';
import { queueForEach } from '#db/mail/rounds.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { dayMs, hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { ownerLinks } from '#runtime/owner-pages.ts';
import type { WaitingComment } from '#web/mails/owner/comments-waiting.ts';

/** How long a comment waits for an answer, and the shortest time between two e-mails about one site. */
const waitMs = hourMs;
/** Older ones are not mailed: after an outage, or once a blocked site is online again. */
const staleMs = 7 * dayMs;
/** Sites of one round; the next one continues. */
const roundMax = 200;
/** What an e-mail lists. */
const listedMax = 20;
const lineMax = 160;

type Deps = { clock: Clock; config: Config };

/**
 * Open threads that a person opened, and in which a reviewer had the last word: not an agent, and not that account
 * itself, signed in. A reviewer comments in the name of the account that made the link. Takes the times between which
 * the last change was.
 */
const isWaiting = `thread.status = 'open' and (thread.owner_mailed_at is null or thread.owner_mailed_at < thread.changed_at)
  and thread.changed_at > ? and thread.changed_at <= ? and exists (
    select 1 from
      (select account_id, author_kind from comment_message where thread_id = thread.id order by id limit 1) as opening,
      (select account_id, author_kind, signed_in, created_at from comment_message where thread_id = thread.id
        order by id desc limit 1) as latest
    where opening.author_kind <> 'agent' and latest.author_kind <> 'agent' and opening.account_id = latest.account_id
      and not latest.signed_in
      and (thread.owner_mailed_at is null or thread.owner_mailed_at < latest.created_at))`;

/** Takes the time after which another e-mail is too soon. */
const isMailable = `not exists (
  select 1 from comment_thread mailed where mailed.site_id = thread.site_id and mailed.owner_mailed_at > ?)`;

/** Queues one e-mail for each site with comments that wait. Each comment is in one e-mail. Returns how many e-mails. */
export async function queueWaitingComments({ em, ...deps }: Deps & { em: () => EntityManager }): Promise<number> {
  if (!deps.config.mail) return 0;
  const sites = await em().execute<{ id: string }[]>(
    `select site.id from comment_thread thread join site on site.id = thread.site_id
     where ${isWaiting} and ${isMailable}
       and site.status = 'active' and site.blocked_at is null and site.owner_blocked_at is null
     group by site.id order by random() limit ${roundMax}`,
    timesOf(deps.clock.now()),
  );
  return await queueForEach(sites, ({ id }) => em().transactional((tx) => queueForSite(tx, deps, id)));
}

/** The values of `isWaiting` and `isMailable`. */
function timesOf(now: Date): Date[] {
  const before = (ms: number) => new Date(now.getTime() - ms);
  return [before(staleMs), before(waitMs), before(waitMs)];
}

/** The comments are marked in the transaction that queues their e-mail, or finds that the owner does not want it. */
async function queueForSite(tx: EntityManager, deps: Deps, siteId: string): Promise<boolean> {
  await lockInTransaction(tx, `comments waiting on ${siteId}`);
  const now = deps.clock.now();
  const marked = await tx.execute<Marked[]>(
    `with waiting as (
       select thread.id, thread.owner_mailed_at from comment_thread thread
       where thread.site_id = ? and ${isWaiting} and ${isMailable} for update)
     update comment_thread thread set owner_mailed_at = ? from waiting where thread.id = waiting.id
     returning thread.id, waiting.owner_mailed_at as "mailedAt"`,
    [siteId, ...timesOf(now), now],
  );
  if (marked.length === 0) return false;
  const site = await tx.findOneOrFail(Site, siteId, { populate: ['account'] });
  if (!(await wantsMail(tx, site.account.id, 'comments'))) return false;
  const { hostname } = await canonicalUrl(tx, deps.config, site);
  const links = ownerLinks(deps.config, `/account/sites/${siteId}/comments`);
  const data = { hostname, comments: await listed(tx, marked), count: marked.length, ...links };
  queueMail(tx, deps, { kind: 'comments-waiting', to: site.account.email, data, site: siteId });
  return true;
}

/** A thread, and when an e-mail had it before. */
type Marked = { id: string; mailedAt: string | Date | null };

/** The first of these threads, as the e-mail lists them: each with its first comment that was in no e-mail. */
async function listed(tx: EntityManager, marked: readonly Marked[]): Promise<WaitingComment[]> {
  const rows = await tx.execute<{ page: string; slot: number | null; body: string; name: string | null }[]>(
    `select thread.page, draft.slot, comment.body, comment.author_name as name from jsonb_to_recordset(?) as marked(id text, "mailedAt" timestamptz)
     join comment_thread thread on thread.id = marked.id
     join lateral (
       select body, author_name from comment_message
       where thread_id = thread.id and created_at > coalesce(marked."mailedAt", '-infinity') and author_kind <> 'agent'
       order by id limit 1) as comment on true
     left join deployment draft on draft.id = thread.deployment_id and draft.kind = 'draft'
     order by thread.id limit ${listedMax}`,
    [JSON.stringify(marked)],
  );
  return rows.map(({ page, slot, body, name }) => ({ page: lineOf(page), slot, text: lineOf(body), name }));
}

function lineOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const letters = [...line];
  return letters.length > lineMax ? `${letters.slice(0, lineMax - 1).join('')}…` : line;
}
