/** The end of an offer, written down by its workflow. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIds } from '#rules/workflow-ids.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';
import { answered, createPayoutFixture, type PayoutFixture } from './fixture.ts';

const { around, interceptors } = aroundActivities();

let fixture: PayoutFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createPayoutFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
  worker = await startWorker(fixture.deps, { interceptors });
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

const dayMs = 24 * 3600_000;
const statusOf = async (id: string) => {
  const [row] = await fixture.deps.em().execute('select status from payout_offer where id = ?', [id]);
  return row?.status;
};
async function newOffer() {
  const pair = await fixture.newPair();
  const offer = answered(await fixture.offerFromSite(pair.owner, pair.site.id, pair.account.id));
  return {
    ...pair,
    id: offer.id as string,
    handle: fixture.deps.temporal.workflow.getHandle(workflowIds.expireOffer(offer.id)),
  };
}

test.each(Object.keys(activityFaults) as ActivityFault[])(
  'an offer’s expiry is recorded once, when its activity %s',
  async (fault) => {
    const { id, handle } = await newOffer();
    fixture.skip(14 * dayMs);
    around.set('settleOffer', activityFaults[fault]);
    const signalled = async () => {
      await handle.signal('moved').catch(() => {});
      return await statusOf(id);
    };
    await expect.poll(signalled, { timeout: 20_000, interval: 50 }).toBe('expired');
    expect(await handle.result()).toEqual({ status: 'expired' });
    expect(around.size).toBe(0);
  },
);

test('an offer’s workflow ends with the answer or the withdrawal', async () => {
  const accepted = await newOffer();
  answered(await fixture.accept(accepted.payee, accepted.id));
  const withdrawn = await newOffer();
  answered(await fixture.endOffer(withdrawn.owner, withdrawn.id));
  const ended = async ({ handle }: typeof accepted) => handle.result().catch(() => undefined);
  await expect.poll(() => ended(accepted), { timeout: 20_000 }).toEqual({ status: 'accepted' });
  await expect.poll(() => ended(withdrawn), { timeout: 20_000 }).toEqual({ status: 'withdrawn' });
});
