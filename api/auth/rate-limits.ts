/** Limits for e-mails that anyone who knows an address can cause. */
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';

/** E-mails of one kind per hour, before `FRONTAGE_RATE_SCALE`. */
const perHour = 5;

/** Locks the address until the transaction ends, so that concurrent requests are counted one after the other. */
export async function lockAddress(tx: EntityManager, email: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`address ${email}`]);
}

type Counted =
  | { table: 'access_request' | 'signin_link' | 'email_change'; email: string }
  | { table: 'email_change'; accountId: string };

/** Throws `rate_limited` if the table has reached the limit for the last hour. */
export async function limitMails(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  { what, ...counted }: Counted & { what: string },
): Promise<void> {
  const limit = Math.ceil(perHour * config.rateScale);
  const [column, value] = 'email' in counted ? ['email', counted.email] : ['account_id', counted.accountId];
  const holder = 'email' in counted ? 'e-mail address' : 'account';
  await requireBelowHourlyLimit(clock, {
    limit,
    message: `This ${holder} has reached the limit of ${limit} ${what} per hour.`,
    async createdAt(since, offset) {
      const [row] = await tx.execute<{ created_at: string | Date }[]>(
        `select created_at from ${counted.table} where ${column} = ? and created_at > ? order by created_at desc offset ? limit 1`,
        [value, since, offset],
      );
      return row?.created_at;
    },
  });
}
