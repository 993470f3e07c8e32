/** The plan of a deleted account ends at the provider, also one that was being bought. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { deleteAccount } from '#api/accounts/deletion.ts';
import { hashCode } from '#api/auth/codes.ts';
import { AccountDeletionCode } from '#db/accounts/deletion-code.ts';
import { newId } from '#runtime/ids.ts';
import type { Caller } from '#test/api/fixture.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { aroundActivities } from '#test/stack/worker.ts';
import { type BillingFixture, createBillingFixture } from './fixture.ts';

const { around, interceptors } = aroundActivities();
let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await createBillingFixture({ interceptors });
});
afterAll(() => fixture?.close());

async function deleteWithCode({ accountId }: Caller) {
  const [em, id, now] = [fixture.deps.em(), newId('link'), fixture.clock.now()];
  await em.insert(AccountDeletionCode, {
    id,
    account: accountId,
    codeHash: hashCode(fixture.config.secret, id, 'BCDFGHJK'),
    createdAt: now,
    expiresAt: new Date(now.getTime() + 60_000),
  });
  return await deleteAccount(fixture.deps.em(), fixture.deps, actorOf(accountId, newId('sess')), 'bcdf-ghjk');
}

test.each(Object.keys(activityFaults) as ActivityFault[])(
  'a deleted account has no subscription at the provider where a step %s',
  async (fault) => {
    const owner = await fixture.newCaller();
    await fixture.buy(owner, 'hobby');
    const page = await fixture.checkout(owner, 'studio');
    expect((await fixture.atProvider(owner)).live).toHaveLength(1);
    around.set('endAccountMoney', activityFaults[fault]);
    expect(await deleteWithCode(owner)).toMatchObject({ outcome: 'deleted' });
    await fixture.until(
      () => fixture.rows(owner),
      (rows) => rows.map(({ plan, status }) => `${plan} ${status}`).join() === 'hobby ended,studio expired',
    );
    expect((await fixture.atProvider(owner)).live).toEqual([]);
    expect((await fixture.press(page, 'pay')).status).toBe(410);
    expect(around.size).toBe(0);
  },
);
