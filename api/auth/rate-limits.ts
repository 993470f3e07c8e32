/** Limits for e-mails that anyone who knows an address can cause. */
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import type { EntityManager } from '#db/orm.ts';
import { hourMs } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';

/** Of one kind per hour, before `FRONTAGE_RATE_SCALE`. */
const perHour = {
  /** For one network and address, so that a stranger elsewhere cannot use up an owner's. */
  pair: 5,
  /** For one address, from all networks. */
  address: 20,
  /** Changes of address, for one account and for one new address. */
  changes: 5,
  /** Codes that confirm the deletion of one account. */
  deletions: 5,
} as const;
type LimitName = keyof typeof perHour;

const scaled = ({ rateScale }: Config, name: LimitName) => Math.ceil(perHour[name] * rateScale);

type Asker = { email: string; network: string };
type DepsOfLimits = Pick<Deps, 'clock' | 'config'>;

/** Limits access requests for one address from one network. Throws `rate_limited`. */
export async function limitAccessRequests(tx: EntityManager, deps: DepsOfLimits, { email, network }: Asker) {
  const counted = { table: 'access_request', columns: { email, network }, limit: 'pair' } as const;
  await limit(tx, deps, counted, 'requests for this e-mail address from one network');
}

/** Limits sign-in links for one address, from one network and from all. Throws `rate_limited`. */
export async function limitSigninLinks(tx: EntityManager, deps: DepsOfLimits, { email, network }: Asker) {
  const table = 'signin_link';
  const what = 'sign-in links for this e-mail address';
  await limit(tx, deps, { table, columns: { email, network }, limit: 'pair' }, `${what} from one network`);
  await limit(tx, deps, { table, columns: { email }, limit: 'address' }, what);
}

/** Limits changes of address, for the account or for the new address. Throws `rate_limited`. */
export async function limitAddressChanges(
  tx: EntityManager,
  deps: DepsOfLimits,
  columns: { email: string } | { account_id: string },
) {
  const holder = 'email' in columns ? 'e-mail address' : 'account';
  await limit(tx, deps, { table: 'email_change', columns, limit: 'changes' }, `address changes for this ${holder}`);
}

/** Limits the codes that confirm the deletion of an account. Throws `rate_limited`. */
export async function limitDeletionCodes(tx: EntityManager, deps: DepsOfLimits, accountId: string) {
  const counted = { table: 'account_deletion_code', columns: { account_id: accountId }, limit: 'deletions' } as const;
  await limit(tx, deps, counted, 'codes to delete this account');
}

/** Whether the address has received so many e-mails about access requests within the last hour that it gets no more. */
export async function hasEnoughRequestMails(tx: EntityManager, { clock, config }: DepsOfLimits, email: string) {
  const [row] = await tx.execute<[{ mails: number }]>(
    'select count(*)::int as mails from access_request where mailed and email = ? and created_at > ?',
    [email, new Date(clock.now().getTime() - hourMs)],
  );
  return row.mails >= scaled(config, 'address');
}

type Counted = { table: string; columns: Readonly<Record<string, string>>; limit: LimitName };

async function limit(
  tx: EntityManager,
  { clock, config }: DepsOfLimits,
  { table, columns, limit: name }: Counted,
  what: string,
): Promise<void> {
  const most = scaled(config, name);
  const where = Object.keys(columns).map((column) => `${column} = ?`);
  await requireBelowHourlyLimit(clock, {
    limit: most,
    message: `The limit of ${most} ${what} per hour has been reached.`,
    async createdAt(since, offset) {
      const [row] = await tx.execute<{ created_at: string | Date }[]>(
        `select created_at from ${table} where ${where.join(' and ')} and created_at > ? order by created_at desc offset ? limit 1`,
        [...Object.values(columns), since, offset],
      );
      return row?.created_at;
    },
  });
}
