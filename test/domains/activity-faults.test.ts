/**
 * Activities of a domain that fail, are repeated or run twice: rows and zone are the same as after one run.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Domain } from '#db/domains/domain.ts';
import type { Zones } from '#providers/zones.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { activityFaults, faultsOf } from '#test/publishing/activity-faults.ts';
import { aroundActivities } from '#test/stack/worker.ts';
import { createDomainFixture, type DomainFixture, freeDomain } from './fixture.ts';

const { around, interceptors } = aroundActivities();

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture({}, { worker: { interceptors } });
}, 60_000);
afterAll(() => fixture?.close());

const workflowOf = (id: string) => fixture.deps.temporal.workflow.getHandle(workflowIds.onboardDomain(id));

test.each(faultsOf(0))('a domain is observed, and its zone created, when the activity %s', async (fault) => {
  const owner = await fixture.newCaller();
  around.set('settleDomain', activityFaults[fault]);
  const domain = freeDomain();
  const body = { domain, mode: 'nameservers' };
  const { body: brought } = await owner.call('POST', '/v1/domains', { body, headers: { prefer: 'respond-async' } });
  fixture.setUp(brought);
  await expect.poll(async () => (await fixture.read(owner, brought)).status, { timeout: 20_000 }).toBe('active');
  expect(around.size).toBe(0);
  await expect.poll(async () => (await fixture.zone(domain, 'A')).answers, { timeout: 10_000 }).toEqual(['127.0.0.1']);
  expect(await fixture.deps.em().count(Domain, { name: domain, provedAt: { $ne: null } })).toBe(1);
});

test.each(faultsOf(1))('a removed domain’s zone is deleted when the activity %s', async (fault) => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner, 'nameservers');
  around.set('forgetDomain', activityFaults[fault]);
  await owner.call('DELETE', `/v1/domains/${domain.id}`);
  expect(await workflowOf(domain.id).result()).toEqual({ status: 'removed' });
  expect(around.size).toBe(0);
  expect((await fixture.zone(domain.domain, 'SOA')).rcode).toBe('REFUSED');
});

test('an interrupted check that saved its row wakes the workflow, which completes it', async () => {
  const owner = await fixture.newCaller();
  const brought = await fixture.bring(owner, 'nameservers');
  // Late on its curve: by itself it would look in hours.
  await fixture.deps.em().nativeUpdate(Domain, { id: brought.id }, { checks: 60 });
  await fixture.check(owner, brought);
  const nextOf = async () => (await fixture.read(owner, brought)).next_check_at;
  await expect
    .poll(async () => Date.parse(await nextOf()) - fixture.clock.now().getTime(), { timeout: 20_000 })
    .toBeGreaterThan(3600_000);
  fixture.setUp(brought);
  const broken = vi.spyOn(fixture.deps.zones as Zones, 'read').mockRejectedValueOnce(new Error('broken off'));
  fixture.skip(5_000);
  await owner.call('POST', `/v1/domains/${brought.id}/check`);
  expect(broken).toHaveBeenCalled();
  await expect
    .poll(async () => (await fixture.zone(brought.domain, 'A')).answers, { timeout: 10_000 })
    .toEqual(['127.0.0.1']);
});

test('the sweep restarts a terminated workflow, which continues from the row', async () => {
  const owner = await fixture.newCaller();
  const brought = await fixture.bring(owner, 'cname');
  await workflowOf(brought.id).terminate('a test');
  fixture.skip(20 * 60_000);
  fixture.setUp(brought);
  await fixture.deps.temporal.workflow.execute('sweep', {
    workflowId: `sweep:${brought.id}`,
    taskQueue: 'platform',
    args: [],
  });
  await expect.poll(async () => (await fixture.read(owner, brought)).status, { timeout: 20_000 }).toBe('active');
  expect((await workflowOf(brought.id).describe()).status.name).toBe('RUNNING');
});
