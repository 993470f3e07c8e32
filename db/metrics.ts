/** Queue lengths and ages, for monitoring. */

import { shownStatuses } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { sqlList } from './arrays.ts';
import type { EntityManager } from './orm.ts';

/** The current values. Every process with a database reports the same. */
export type DatabaseMetrics = {
  outboxWaiting: number;
  outboxOldestSeconds: number;
  buildsWaiting: number;
  buildsOldestSeconds: number;
  mailsWaiting: number;
  mailsOldestSeconds: number;
  /** Flags that were not dismissed. */
  flagsOpen: number;
  /** Age of the oldest published version that was not scanned. */
  unscannedOldestSeconds: number;
  /** For the renewed certificate that expires first; absent if there is none. */
  certificateDaysLeft: number | undefined;
};

type Row = {
  outbox: string;
  outbox_since: string | Date | null;
  builds: string;
  builds_since: string | Date | null;
  mails: string;
  mails_since: string | Date | null;
  flags: string;
  unscanned_since: string | Date | null;
  certificate_until: string | Date | null;
};

/** Mails of a blocked account wait intentionally. */
const isNotStopped = `not exists (select 1 from account where blocked_at is not null
  and id in (mail.account_id, (select site.account_id from site where site.id = mail.site_id)))`;

/**
 * The platform's own certificates, and those of domains in use. Others are not renewed (activities/certificates.ts), so
 * their expiry must raise no alert.
 */
const isRenewed = `(certificate.domain_id is null or exists (select 1 from domain join account on account.id = domain.account_id
  where domain.id = certificate.domain_id and domain.status = 'active' and domain.removed_at is null and account.blocked_at is null))`;

/** One query; each part of it has an index. */
export async function readMetrics(em: EntityManager, clock: Clock): Promise<DatabaseMetrics> {
  const [row] = await em.execute<[Row]>(
    `select o.count as outbox, o.since as outbox_since, d.count as builds, d.since as builds_since, m.count as mails,
       m.since as mails_since, f.count as flags, s.since as unscanned_since, c.until as certificate_until
     from (select count(*), min(created_at) as since from outbox where sent_at is null) o,
       (select count(*), min(created_at) as since from deployment where status = 'queued') d,
       (select count(*), min(created_at) as since from mail where status = 'queued' and ${isNotStopped}) m,
       (select count(*) from flag where sha256 <> all (dismissed)) f,
       (select min(finished_at) as since from deployment
         where scanned_at is null and manifest_sha256 is not null and status in ${sqlList(shownStatuses)}) s,
       (select min(not_after) as until from certificate where chain is not null and ${isRenewed}) c`,
  );
  const now = clock.now().getTime();
  const age = (since: string | Date | null) => (since ? Math.max(0, (now - new Date(since).getTime()) / 1000) : 0);
  return {
    outboxWaiting: Number(row.outbox),
    outboxOldestSeconds: age(row.outbox_since),
    buildsWaiting: Number(row.builds),
    buildsOldestSeconds: age(row.builds_since),
    mailsWaiting: Number(row.mails),
    mailsOldestSeconds: age(row.mails_since),
    flagsOpen: Number(row.flags),
    unscannedOldestSeconds: age(row.unscanned_since),
    certificateDaysLeft: row.certificate_until ? (new Date(row.certificate_until).getTime() - now) / dayMs : undefined,
  };
}
