/** Limits for e-mails to addresses that did not ask for them. Scaled by `FRONTAGE_RATE_SCALE`. */
import type { EntityManager } from '#db/orm.ts';
import { hourMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

/** Per hour: to one address from the whole platform, and from one owner to all addresses. */
const perHour = { address: 5, owner: 60 };

/** Throws `rate_limited`. Withdrawn invitations count, because their e-mails were sent. */
export async function limitInvitations(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  ownerId: string,
  email: string,
): Promise<void> {
  const since = new Date(clock.now().getTime() - hourMs);
  const oldest = async (limit: number, where: string, value: string) => {
    const [row] = await tx.execute<{ created_at: string | Date }[]>(
      `select i.created_at from invitation i join site s on s.id = i.site_id
       where ${where} = ? and i.created_at > ? order by i.created_at desc offset ? limit 1`,
      [value, since, Math.ceil(limit * config.rateScale) - 1],
    );
    return row && new Date(row.created_at);
  };
  const full =
    (await oldest(perHour.address, 'i.email', email)) ?? (await oldest(perHour.owner, 's.account_id', ownerId));
  if (!full) return;
  const seconds = Math.max(1, Math.ceil((full.getTime() - since.getTime()) / 1000));
  throw errors.rate_limited('The limit of invitations per hour is reached.', {
    nextAction: `Send the same call again in ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  });
}
