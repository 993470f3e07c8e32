/**
 * The rows of a purged site: each function is one activity, and repeating it changes nothing. What stays is the receipt
 * of others: calendars, bookings without name and answers, payments and their agreements.
 */
import { clearCertificate } from '#db/certificates/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { detachDomain, lockDomainWithSite, signalOnboardDomain } from '#db/domains/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { endAgreements, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import type { Clock } from '#runtime/clock.ts';
import { Site } from './site.ts';

/** Detaches the domains, which stay with their account, and destroys their certificates. */
export async function detachSiteDomains(em: EntityManager, clock: Clock, siteId: string): Promise<void> {
  for (const { id } of await em.find(Domain, { site: siteId }, { fields: ['id'] })) {
    await em.transactional(async (tx) => {
      const domain = await lockDomainWithSite(tx, id);
      if (domain.site?.id !== siteId) return;
      // With the detaching: a repetition finds only domains that are still attached, and another site may get this one.
      await clearCertificate(tx, id);
      await detachDomain(tx, clock, domain);
      signalOnboardDomain(tx, clock, id, 'detach');
    });
  }
}

const ofSite = 'select id from deployment where site_id = ?';

/** In the order of their references. Each takes the site's id once. */
const removals = [
  'delete from comment_message where thread_id in (select id from comment_thread where site_id = ?)',
  'delete from comment_thread where site_id = ?',
  'delete from form where site_id = ?',
  'delete from collaborator where site_id = ?',
  'delete from invitation where site_id = ?',
  'delete from git_credential where site_id = ?',
  'delete from accepted_push where site_id = ?',
  'delete from upload_link where site_id = ?',
  'delete from review_link where site_id = ?',
  'delete from calendar_feed where site_id = ?',
  'delete from asset where site_id = ?',
  'delete from preview where site_id = ?',
  'delete from flag where site_id = ?',
  'delete from rendering_picture where site_id = ?',
  'delete from rendering where site_id = ?',
  'delete from view_hour where site_id = ?',
  'delete from view_total where site_id = ?',
  `delete from build_log where deployment_id in (${ofSite})`,
  `delete from upload_file where deployment_id in (${ofSite})`,
  'delete from held_file where site_id = ?',
  'update site set live_deployment_id = null, redirects_sha256 = null where id = ?',
  'delete from deployment where site_id = ?',
  'delete from prepared_mail where booking_id in (select id from booking where site_id = ?)',
  `update booking set visitor_name = '', intake = '[]', visitor_sealed = null, remind_at = null where site_id = ?`,
] as const;

/** Removes everything but receipts, and ends what can no longer happen. */
export async function removeSiteRows(em: EntityManager, clock: Clock, siteId: string): Promise<void> {
  const now = clock.now();
  // One by one, so that no transaction is long; a repetition continues.
  for (const removal of removals) await em.execute(removal, [siteId]);
  await em.transactional(async (tx) => {
    await tx.execute('update bookable set ended_at = coalesce(ended_at, ?), reply_to_id = null where site_id = ?', [
      now,
      siteId,
    ]);
    await tx.execute('update calendar set archived_at = coalesce(archived_at, ?) where site_id = ?', [now, siteId]);
    await withdrawOffers(tx, clock, { site: siteId });
    await endAgreements(tx, { site: siteId }, { by: 'site', now });
  });
}

/** Images whose builds may have left a cache for the site. */
export async function buildImagesOf(em: EntityManager, siteId: string): Promise<string[]> {
  const rows = await em.execute<{ image: string }[]>(
    'select distinct image from deployment where site_id = ? and image is not null',
    [siteId],
  );
  return rows.map(({ image }) => image);
}

/** Whether the purge of the site has begun. Its activities do nothing before. */
export async function isPurging(em: EntityManager, siteId: string): Promise<boolean> {
  return (await em.count(Site, { id: siteId, purgedAt: { $ne: null } })) > 0;
}
