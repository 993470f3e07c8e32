/** Upload links: create, list, revoke, and what a link still allows. */

import {
  type Actor,
  findSite,
  loadSite,
  makerOf,
  personOf,
  requireAccessible,
  requireActive,
  roleOf,
} from '#api/access.ts';
import { hashSecret } from '#api/secrets.ts';
import { lifetimeWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { UploadLink } from '#db/assets/upload-link.ts';
import { recordAct } from '#db/history/recording.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import { daySeconds } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

export type LinkStatus = 'open' | 'full' | 'expired' | 'ended';

export function statusOf(link: UploadLink, now: Date): LinkStatus {
  if (link.endedAt) return 'ended';
  if (link.expiresAt <= now) return 'expired';
  return link.filesTaken >= link.maxFiles ? 'full' : 'open';
}

export type NewLink = {
  id: string;
  secret: string;
  expires_in_seconds?: number | undefined;
  max_files: number;
  max_file_bytes?: number | undefined;
};

/** Creates a link to a site. Throws `invalid_expiry`, and `invalid_upload` for a limit above the site's own limit for a file. */
export async function createLink(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  input: NewLink,
): Promise<UploadLink> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  const { limits, lift } = planLimitsOf(deps.config, site, deps.clock.now(), roleOf(site, actor));
  const maxFileBytes = input.max_file_bytes ?? limits.file_bytes;
  if (maxFileBytes > limits.file_bytes) {
    throw errors.invalid_upload(`max_file_bytes exceeds the limit of ${limits.file_bytes} bytes per file.`, {
      nextAction: `Send a smaller max_file_bytes, or omit it. ${lift('file_bytes')}`,
    });
  }
  const now = deps.clock.now();
  const lifetime = { seconds: input.expires_in_seconds, usual: 7 * daySeconds };
  const expiresAt = await lifetimeWithin(em, now, actor, lifetime);
  const link = {
    id: input.id,
    site,
    account: em.getReference(Account, actor.accountId),
    madeBy: makerOf(actor),
    hash: hashSecret(input.secret),
    maxFiles: input.max_files,
    maxFileBytes,
    filesTaken: 0,
    createdAt: now,
    expiresAt,
  };
  return await madeWith(em, actor, (tx) => {
    const detail = { max_files: link.maxFiles, expires_at: expiresAt };
    recordAct(tx, deps.clock, actor, 'upload_link.created', { site, subject: linkSubject(link), detail });
    return tx.create(UploadLink, link);
  });
}

const linkSubject = ({ id }: { id: string }) => ({ id, name: null });

/** The link, if the caller may act on its site. */
export async function loadLink(em: EntityManager, actor: Actor, linkId: string): Promise<UploadLink> {
  const link = isId('upl', linkId) ? await em.findOne(UploadLink, { id: linkId }) : null;
  return await requireAccessible(em, actor, link, { what: 'upload link', list: 'upload.list' });
}

/** Revokes a link at once, also for uploads in progress. Revoking it again changes nothing. */
export async function revokeLink(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  linkId: string,
): Promise<UploadLink> {
  const link = await loadLink(em, actor, linkId);
  await em.transactional(async (tx) => {
    if ((await tx.nativeUpdate(UploadLink, { id: link.id, endedAt: null }, { endedAt: clock.now() })) === 0) return;
    recordAct(tx, clock, actor, 'upload_link.revoked', { site: link.site as Site, subject: linkSubject(link) });
  });
  await em.refresh(link);
  return link;
}

/** Revokes an account's links to a site when it loses access. Call it in the transaction that ends the access. */
export async function revokeLinksOf(
  tx: EntityManager,
  { siteId, accountId, now }: { siteId: string; accountId: string; now: Date },
): Promise<number> {
  return await tx.nativeUpdate(UploadLink, { site: siteId, account: accountId, endedAt: null }, { endedAt: now });
}

/** A link as its holder uses it. `lost`: the account that created it has lost access to the site, so the link has too. */
export type HeldLink = { link: UploadLink; site: Site; lost: boolean };

/** The link behind a secret, whatever its state. Throws `not_found`. */
export async function linkOf(em: EntityManager, secret: string): Promise<HeldLink> {
  const link = await em.findOne(UploadLink, { hash: hashSecret(secret) });
  if (!link)
    throw errors.not_found('Check that you copied the whole link, or ask the person who sent it for a new one.');
  return await asHeldLink(em, link);
}

async function asHeldLink(em: EntityManager, link: UploadLink): Promise<HeldLink> {
  const maker = personOf(link.account.id);
  const reached = await findSite(em, maker, link.site.id);
  return { link, site: reached ?? (await em.findOneOrFail(Site, link.site.id)), lost: reached === null };
}

/** Throws the reason why a link accepts no more files, worded for the person who has it. */
export function requireOpen({ link, site, lost }: HeldLink, now: Date): void {
  if (isClosed(site)) throw errors.site_archived('This website is archived, so it cannot accept photos.');
  const status = lost ? 'ended' : statusOf(link, now);
  if (status === 'full') throw errors.plan_limit('This link has received its maximum number of photos.');
  if (status === 'expired')
    throw errors.expired('This upload link has expired. Ask the person who sent it for a new one.');
  if (status === 'ended')
    throw errors.expired('This upload link was closed. Ask the person who sent it for a new one.');
}

/** Throws like `requireOpen`, for the current state of link and site: an upload may have taken minutes. */
export async function requireStillOpen(deps: Pick<Deps, 'em' | 'clock'>, linkId: string): Promise<void> {
  const em = deps.em();
  requireOpen(await asHeldLink(em, await em.findOneOrFail(UploadLink, linkId)), deps.clock.now());
}

/** Reserves one of the link's files in one statement; false if none is left or the link is closed. */
export async function reserveFile(em: EntityManager, { clock }: Pick<Deps, 'clock'>, linkId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `update upload_link set files_taken = files_taken + 1
     where id = ? and files_taken < max_files and ended_at is null and expires_at > ? returning id`,
    [linkId, clock.now()],
  );
  return rows.length > 0;
}

/**
 * Records that a file has arrived, and wakes the inbox of the site's people. A file that is sent again was recorded, unless that failed
 * the first time. Returns whether it was recorded now.
 */
export async function recordFile(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  { id, site }: UploadLink,
  { path, oid, isNew }: { path: string; oid: string; isNew: boolean },
): Promise<boolean> {
  return await em.transactional(async (tx) => {
    const recorded = await tx.execute<unknown[]>(
      `update upload_link link set last_file_at = ?, last_file_path = ? where id = ? and (? or exists (
         select 1 from asset where site_id = link.site_id and path = ? and oid = ? and source = 'upload_link'
           and created_at > coalesce(link.last_file_at, link.created_at)))
       returning 1`,
      [clock.now(), path, id, isNew, path, oid],
    );
    if (recorded.length > 0) await notifyInbox(tx, site.id);
    return recorded.length > 0;
  });
}

export async function releaseFile(em: EntityManager, linkId: string): Promise<void> {
  await em.execute('update upload_link set files_taken = files_taken - 1 where id = ?', [linkId]);
}
