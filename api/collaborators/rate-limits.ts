/** Limits for e-mails to addresses that did not ask for them. Scaled by `FRONTAGE_RATE_SCALE`. */
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';

/** Per hour: to one address from the whole platform, and from one owner to all addresses. */
const perHour = { address: 5, owner: 60 };

/** Throws `rate_limited`. Withdrawn invitations count, because their e-mails were sent. */
export async function limitInvitations(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  ownerId: string,
  email: string,
): Promise<void> {
  await limit(perHour.address, 'i.email', email);
  await limit(perHour.owner, 's.account_id', ownerId);

  async function limit(most: number, column: string, value: string): Promise<void> {
    await requireBelowHourlyLimit(clock, {
      limit: Math.ceil(most * config.rateScale),
      message: 'The hourly limit for invitations has been reached.',
      async createdAt(since, offset) {
        const [row] = await tx.execute<{ created_at: string | Date }[]>(
          `select i.created_at from invitation i join site s on s.id = i.site_id
           where ${column} = ? and i.created_at > ? order by i.created_at desc offset ? limit 1`,
          [value, since, offset],
        );
        return row?.created_at;
      },
    });
  }
}
