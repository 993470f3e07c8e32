/**
 * Expires restored short-lived credentials: people sign in again, and repeat requests for a change of address, an
 * upload or an onboarding. Mails that were waiting in the backup were sent long ago, or, in a dry run, are sent by the
 * installation that still runs: they are not sent again. Build caches of before are not used.
 */
import type pg from 'pg';
import type { Clock } from '#runtime/clock.ts';

/**
 * Counts of restored credentials, which may have been revoked since the backup, and of mails that are not sent again.
 */
export type Past = {
  tokens: number;
  clients: number;
  collaborators: number;
  gitPasswords: number;
  reviewLinks: number;
  calendarFeeds: number;
  mailsEnded: number;
};

/** The old installation has sent mails that waited longer than this before the restore. */
const waitsAtMost = `interval '1 hour'`;

/** In the client's transaction. Idempotent. */
export async function expireCredentials(
  client: pg.ClientBase,
  clock: Clock,
  { isDryRun }: { isDryRun: boolean },
): Promise<Past> {
  const now = clock.now();
  for (const table of ['browser_session', 'oauth_code', 'payout_onboarding'])
    await client.query(`delete from ${table}`);
  await client.query('delete from signin_link where ended_at is null');
  await client.query(`update email_change set status = 'ended' where status = 'pending'`);
  await client.query('update upload_link set ended_at = $1 where ended_at is null', [now]);
  // The store may contain build caches of the old installation. Minutes since 1970 are more than any epoch that it has had since the backup.
  await client.query(
    `update site set cache_epoch = greatest(cache_epoch + 1, extract(epoch from $1::timestamptz)::integer / 60)`,
    [now],
  );
  if (isDryRun) await client.query('update outbox set sent_at = $1 where sent_at is null', [now]);
  const { rowCount } = await client.query(
    `update mail set status = 'failed', failure = 'restored', sealed = null, settled_at = $1
     where status = 'queued' and ($2 or created_at < $1::timestamptz - ${waitsAtMost})`,
    [now, isDryRun],
  );
  const { rows } = await client.query<Omit<Past, 'mailsEnded'>>(
    `with valid as (select id from token where revoked_at is null and (expires_at is null or expires_at > $1))
     select (select count(*)::integer from valid) as tokens,
       (select count(*)::integer from oauth_grant where token_id in (select id from valid)) as clients,
       (select count(*)::integer from collaborator) as collaborators,
       (select count(*)::integer from git_credential where expires_at > $1) as "gitPasswords",
       (select count(*)::integer from review_link where ended_at is null and expires_at > $1) as "reviewLinks",
       (select count(*)::integer from calendar_feed where ended_at is null and (expires_at is null or expires_at > $1)) as "calendarFeeds"`,
    [now],
  );
  return { ...(rows[0] as Omit<Past, 'mailsEnded'>), mailsEnded: rowCount ?? 0 };
}
