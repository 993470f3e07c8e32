/** What one write reserves of the owner's daily quota of files, and releases if it is not used. */

import { dayOf, quotaUsage, returnQuota, useQuota } from '#db/accounts/daily-quota.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { limitsOf, planLimitsOf } from '#rules/plan-limits.ts';
import type { Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

export type DailyQuota = {
  /** Reserves up to this many files in total. Throws `rate_limited`, and `plan_limit` for more than the limit of a whole day. */
  reserve(files: number): Promise<void>;
  /** Releases what was reserved beyond `written`. Call it once, at the end. */
  settle(written: number): Promise<void>;
};

export function openDailyQuota(em: EntityManager, deps: Deps, site: Site, by: Role): DailyQuota {
  const { clock, log } = deps;
  const { day, resetsAt } = dayOf(clock.now());
  const { limits, lift } = planLimitsOf(deps.config, site, deps.clock.now(), by);
  const limit = limits.files_per_day;
  const accountId = site.account.id;
  let reserved = 0;
  return {
    async reserve(files) {
      const more = files - reserved;
      if (more <= 0) return;
      if (!(await useQuota(em, { accountId, day, files: more, limit }))) {
        throw files > limit
          ? exceedsQuota(files, limit, lift('files_per_day'))
          : quotaUsedUp(limit, resetsAt, clock.now());
      }
      reserved = files;
    },
    async settle(written) {
      const files = reserved - written;
      if (files <= 0) return;
      const returned = returnQuota(em, { accountId, day, files });
      await returned.catch((error) =>
        log.error({ err: error, accountId, files }, 'an unused part of a daily quota could not be released'),
      );
    },
  };
}

/** Throws `rate_limited` if today's quota is used up. Reserves nothing. */
export async function requireDailyQuota(
  em: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  site: Site,
): Promise<void> {
  const limit = limitsOf(deps.config, site, deps.clock.now()).files_per_day;
  const { used, resetsAt } = await quotaUsage(em, deps.clock, site.account.id);
  if (used >= limit) throw quotaUsedUp(limit, resetsAt, deps.clock.now());
}

function quotaUsedUp(limit: number, resetsAt: Date, now: Date): AppError {
  return errors.rate_limited(
    `This account has reached its limit of ${limit} files per day. The count resets at midnight UTC.`,
    {
      nextAction: `Send the same request again after ${resetsAt.toISOString()}. Files pushed with git do not count towards the limit.`,
      retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000)),
    },
  );
}

function exceedsQuota(files: number, limit: number, lift: string): AppError {
  return errors.plan_limit(`This call contains ${files} files, more than the daily limit of ${limit}.`, {
    nextAction: `Push the files with git, which has no daily limit, or send fewer files. ${lift}`,
  });
}
