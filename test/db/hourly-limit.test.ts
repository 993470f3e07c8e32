import { expect, test } from 'vitest';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';

const now = new Date('2026-05-04T10:00:00Z');
const clock = { now: () => now };
const message = 'The limit is reached.';

/** `minutesAgo`: when rows were created, newest first. */
const check = (limit: number, minutesAgo: number[]) =>
  requireBelowHourlyLimit(clock, {
    limit,
    message,
    createdAt: async (since, offset) => {
      const rows = minutesAgo.map((minutes) => new Date(now.getTime() - minutes * 60_000));
      return rows.filter((at) => at > since)[offset];
    },
  });

test('a limit counts the last hour, and names when its oldest row leaves it', async () => {
  await check(2, [10]);
  await check(2, [10, 60]);
  await expect(check(2, [10, 50])).rejects.toMatchObject({ code: 'rate_limited', message, retryAfterSeconds: 600 });
  await expect(check(1, [59.999])).rejects.toMatchObject({ retryAfterSeconds: 1 });
});

test('a limit of 0 refuses everything', async () => {
  await expect(check(0, [])).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 });
});
