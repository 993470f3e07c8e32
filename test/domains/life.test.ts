/**
 * A domain over 400 days, which are skipped: its DNS goes away, it is `Moved`, then `Deleted`, and comes back by itself. The clock of our rows is the
 * engine's, as each step begins.
 * @module-tag powerdns
 * @module-tag temporal-test-server
 */
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Domain } from '#db/domains/domain.ts';
import { createSite } from '#test/api/fixture.ts';
import { sized } from '#test/campaigns/size.ts';
import { startTimeSkippingServer } from '#test/stack/time-skipping.ts';
import { createDomainFixture, type DomainFixture } from './fixture.ts';

const days = sized({ one: 46, short: 46, long: 400 });
const isLong = days > 46;
/** In which nothing is wrong, and in which nobody can be asked. */
const [well, silent] = isLong ? (['1 days', '1 days'] as const) : (['3 hours', '6 hours'] as const);

let temporal: TestWorkflowEnvironment;
let lacking: string | undefined;
let fixture: DomainFixture;
beforeAll(async () => {
  try {
    temporal = await startTimeSkippingServer();
  } catch (error) {
    lacking = `temporal-test-server: ${(error as Error).message.split('\n')[0]}`;
    return;
  }
  const interceptors = { activity: [() => ({ inbound: { execute: follow } })] };
  fixture = await createDomainFixture(
    { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: 'default' },
    { worker: { interceptors } },
  );
}, 240_000);
beforeEach((context) => {
  if (lacking) context.skip(lacking);
});
afterAll(async () => {
  await fixture?.close();
  await temporal?.teardown();
});

/** Our clock is never behind the engine's. */
async function follow<Input>(input: Input, next: (input: Input) => Promise<unknown>): Promise<unknown> {
  const at = Context.current().info.currentAttemptScheduledTimestampMs;
  fixture.skip(Math.max(0, at - fixture.clock.now().getTime()));
  return await next(input);
}

const pass = async (time: number | `${number} days` | `${number} hours` | `${number} minutes`) => {
  await temporal.sleep(time);
  fixture.skip(Math.max(0, (await temporal.currentTimeMs()) - fixture.clock.now().getTime()));
};
const row = (id: string) => fixture.deps.em().findOneOrFail(Domain, { id });

test('a domain without DNS becomes Moved, then Deleted, and active when it returns', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner, 'cname');
  const site = await createSite(owner);
  await owner.call('POST', `/v1/domains/${domain.id}/attach`, { body: { site_id: site.id } });
  await pass(well);
  expect((await row(domain.id)).status).toBe('active');

  // Hours in which nobody could be asked are none in which it was gone.
  fixture.dns.fault = () => 'SERVFAIL';
  await pass(silent);
  expect(await row(domain.id)).toMatchObject({ status: 'active', elsewhereChecks: 0 });
  fixture.dns.fault = () => undefined;
  await pass('2 hours');

  fixture.dns.set(domain.domain, 'A', '192.0.2.9');
  await pass('2 hours');
  const moved = await row(domain.id);
  expect(moved.status).toBe('Moved');
  // By three looks, over ten minutes or more.
  expect(moved.elsewhereChecks).toBeGreaterThanOrEqual(3);
  const { status, site_id, next_action } = await fixture.read(owner, domain);
  expect({ status, site_id }).toEqual({ status: 'Moved', site_id: site.id });
  expect(next_action).toContain('192.0.2.9');
  await pass('6 days');
  expect((await row(domain.id)).status).toBe('Moved');
  await pass('2 days');
  const deleted = await row(domain.id);
  expect(deleted.status).toBe('Deleted');
  expect(deleted.statusSince.getTime() - moved.statusSince.getTime()).toBeGreaterThanOrEqual(7 * 86_400_000);

  await pass(`${days - 13} days`);
  const late = await row(domain.id);
  expect(late.status).toBe('Deleted');
  const waits = (late.nextCheckAt?.getTime() ?? 0) - (late.checkedAt?.getTime() ?? 0);
  expect(waits / 3600_000).toBeCloseTo(24, 1);
  // Its way here alone does not bring it back: whose it is has to be proved again.
  fixture.dns.set(domain.domain, 'A', '127.0.0.1');
  const proof = `_frontage.${domain.domain}`;
  fixture.dns.set(proof, 'TXT');
  await pass('2 days');
  expect((await row(domain.id)).status).toBe('Deleted');
  fixture.dns.set(proof, 'TXT', deleted.proof);
  await pass('2 days');
  expect(await row(domain.id)).toMatchObject({ status: 'active', checks: expect.any(Number) });
  console.info(`${days} days: ${late.checks} looks while it was Deleted`);
}, 600_000);

test('an unregistered name is Deleted after three checks over ten minutes, not three calls', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner, 'nameservers');
  fixture.dns.forget(domain.domain);
  for (let looks = 1; looks < 6; looks++)
    expect((await fixture.check(owner, domain, 10_000)).body.status).toBe('active');
  expect((await fixture.check(owner, domain, 10 * 60_000)).body.status).toBe('Deleted');
  const view = await fixture.read(owner, domain);
  expect(view.problems.join()).toContain('not registered');
});
