/** Limits for e-mails that anyone who knows an address can cause. */
import type { EntityManager } from '#db/orm.ts';
import { hourMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

/** E-mails of one kind per hour, before `FRONTAGE_RATE_SCALE`. */
const perHour = 5;

/** Locks the address until the transaction ends, so that concurrent requests are counted one after the other. */
export async function lockAddress(tx: EntityManager, email: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`address ${email}`]);
}

type Counted =
  | { table: 'access_request' | 'signin_link' | 'email_change'; email: string }
  | { table: 'email_change'; accountId: string };

/**
 * Throws `rate_limited` if the table has reached the limit for the last hour. Rows must be stored for at least an hour.
 */
export async function requireBelowHourlyLimit(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  { what, ...counted }: Counted & { what: string },
): Promise<void> {
  const limit = Math.ceil(perHour * config.rateScale);
  const since = new Date(clock.now().getTime() - hourMs);
  const [column, value] = 'email' in counted ? ['email', counted.email] : ['account_id', counted.accountId];
  const [oldest] = await tx.execute<{ created_at: string | Date }[]>(
    `select created_at from ${counted.table} where ${column} = ? and created_at > ? order by created_at desc offset ? limit 1`,
    [value, since, limit - 1],
  );
  if (!oldest) return;
  const seconds = Math.max(1, Math.ceil((new Date(oldest.created_at).getTime() - since.getTime()) / 1000));
  throw errors.rate_limited(`This address has reached the limit of ${limit} ${what} per hour.`, {
    nextAction: `Send the same call again in ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  });
}
