/** The hourly limits of an owner: publishes, previews, uploads and seconds of builds, over all of the owner's sites. */
import { lockAccount } from '#db/accounts/lock.ts';
import { textArray } from '#db/arrays.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import type { EntityManager } from '#db/orm.ts';
import {
  belowLimitAt,
  type HourlyLimit,
  hourlyLimitOf,
  kindsOf,
  type Span,
  secondsUsed,
} from '#rules/hourly-limits.ts';
import { limitsOf, type PlanSubject } from '#rules/plan-limits.ts';
import { buildKinds, type DeploymentKind, unfinishedStatuses } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { Deployment } from './deployment.ts';

type LimitDeps = Pick<Deps, 'clock' | 'config'>;
/** `resetsAt`: when the oldest of the last hour stops counting. */
export type HourlyUsage = { used: number; resetsAt: Date | undefined };

/** All attempts of a build together (`workflows/policies.ts`), with a margin. */
const longestBuildMs = 3 * hourMs;

/**
 * Throws `rate_limited` where the owner's sites have reached an hourly limit. Holds the owner's account until the
 * transaction ends, so that concurrent calls on several of their sites are all counted.
 */
export async function requireHourlyLimits(
  tx: EntityManager,
  deps: LimitDeps,
  account: string,
  kind: DeploymentKind,
): Promise<void> {
  const owner = await lockAccount(tx, account);
  const name = hourlyLimitOf(kind);
  const limit = limitsOf(deps.config, owner, deps.clock.now())[name];
  await requireBelowHourlyLimit(deps.clock, {
    limit,
    message: `The owner has reached the limit of ${limit} ${name.slice(0, name.indexOf('_'))} per hour.`,
    async createdAt(since, offset) {
      const counted = { ...createdSince(since, account), kind: { $in: kindsOf(name) } };
      const [row] = await tx.find(Deployment, counted, {
        orderBy: { createdAt: 'desc' },
        offset,
        limit: 1,
        fields: ['createdAt'],
      });
      return row?.createdAt;
    },
  });
  if ((buildKinds as readonly DeploymentKind[]).includes(kind)) await requireBuildSeconds(tx, deps, account, owner);
}

/** Throws `rate_limited` where the builds of the owner's sites have taken all seconds of an hour. */
export async function requireBuildSeconds(
  em: EntityManager,
  { clock, config }: LimitDeps,
  account: string,
  owner: PlanSubject,
): Promise<void> {
  const limit = limitsOf(config, owner, clock.now()).build_seconds_per_hour;
  const now = clock.now().getTime();
  const spans = await buildSpans(em, clock, account);
  const used = secondsUsed(spans, now);
  if (used < limit) return;
  const seconds = Math.max(1, Math.ceil((belowLimitAt(spans, now, limit) - now) / 1000));
  throw errors.rate_limited(
    `Builds of the owner’s sites have taken ${used} s within the last hour; the limit is ${limit} s.`,
    {
      nextAction: `Make the build faster, or send the same call again in ${seconds} seconds.`,
      retryAfterSeconds: seconds,
    },
  );
}

function createdSince(since: Date, account: string) {
  return { site: { account }, createdAt: { $gt: since } };
}

/** How many publishes, previews and uploads count now, and when the oldest of each stops counting. */
export async function hourlyUsage(
  em: EntityManager,
  clock: Clock,
  account: string,
): Promise<Record<HourlyLimit, HourlyUsage>> {
  const created = await em.find(Deployment, createdSince(new Date(clock.now().getTime() - hourMs), account), {
    orderBy: { createdAt: 'asc' },
    fields: ['kind', 'createdAt'],
  });
  const usageOf = (name: HourlyLimit) => {
    const counted = created.filter(({ kind }) => kindsOf(name).includes(kind));
    return { used: counted.length, resetsAt: counted[0] && new Date(counted[0].createdAt.getTime() + hourMs) };
  };
  return {
    publishes_per_hour: usageOf('publishes_per_hour'),
    previews_per_hour: usageOf('previews_per_hour'),
    uploads_per_hour: usageOf('uploads_per_hour'),
  };
}

/** The seconds of builds within the last hour, those that run included, and when the oldest build stops counting. */
export async function buildSecondsUsage(em: EntityManager, clock: Clock, account: string): Promise<HourlyUsage> {
  const spans = await buildSpans(em, clock, account);
  const [first] = spans;
  return {
    used: secondsUsed(spans, clock.now().getTime()),
    resetsAt: first && new Date(first.to + hourMs),
  };
}

/** The builds of the owner's sites that ran within the last hour, in order. Those that run end now. */
async function buildSpans(em: EntityManager, clock: Clock, account: string): Promise<Span[]> {
  const now = clock.now();
  const since = new Date(now.getTime() - hourMs);
  const builds = await em.execute<{ from: Date | string; to: Date | string | null }[]>(
    `select started_at as "from", finished_at as "to" from deployment join site on site.id = site_id
     where account_id = ? and kind = any(?) and started_at > ?
       and (finished_at > ? or deployment.status = any(?)) order by started_at`,
    [account, textArray(buildKinds), new Date(since.getTime() - longestBuildMs), since, textArray(unfinishedStatuses)],
  );
  return builds.map(({ from, to }) => ({ from: new Date(from).getTime(), to: new Date(to ?? now).getTime() }));
}
