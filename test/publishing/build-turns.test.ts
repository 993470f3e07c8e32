/** Builds whose turn it is and that do not start: others get their slots. No worker runs here. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockAccount } from '#db/accounts/blocks.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { settle } from '#db/deployments/transitions.ts';
import { builder, type Caller, createFixture, createSite, type Fixture } from '#test/api/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
  await recordBuilderPresence(fixture.deps.em(), fixture.clock, { ...builder, slots: 2 });
});
afterAll(() => fixture?.close());

async function publish(owner: Caller): Promise<string> {
  const site = await createSite(owner, { template: 'blank' });
  const accepted = { body: {}, headers: { prefer: 'respond-async' } };
  return (await owner.call('POST', `/v1/sites/${site.id}/publish`, accepted)).body.id;
}
const claim = async (id: string) => (await claimBuild(fixture.deps.em(), fixture.clock, id)).turn;
const end = (id: string) => settle(fixture.deps.em(), fixture, id, { status: 'cancelled' });

test('a build that does not start when it may gives its slot to others', async () => {
  const [stuck, one] = [await fixture.newCaller(), await fixture.newCaller()];
  const lost = [await publish(stuck), await publish(stuck)] as const;
  const own = [await publish(one), await publish(one), await publish(one)] as const;
  expect(await claim(own[0])).toBe('build');
  // The other slot is that of the account that waits.
  expect(await claim(own[1])).toBe('wait');
  fixture.skip(11_000);
  expect(await claim(own[1])).toBe('build');
  expect(await claim(own[2])).toBe('wait');

  // It is alive after all: it waits as before, and is late no more.
  expect(await claim(lost[0])).toBe('wait');
  await end(own[0]);
  expect(await claim(lost[0])).toBe('build');
  for (const id of [own[1], own[2], ...lost]) await end(id);
});

test('a block of an account and a build that starts do not deadlock', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const own = [await publish(owner), await publish(owner)] as const;
  const starting = await publish(other);
  const { blocking } = await fixture.deps.em().transactional(async (tx) => {
    // A build that starts signals others that may start too, before it changes its own row.
    await tx.execute('select 1 from deployment where id = ? for update', [own[1]]);
    const blocking = blockAccount(fixture.deps.em(), fixture, owner.accountId, 'A test.');
    await untilBlocked(fixture.deps);
    await tx.execute('update deployment set started_at = created_at where id = ?', [starting]);
    return { blocking };
  });
  await blocking;
  expect(await fixture.deps.em().count(Deployment, { id: { $in: [...own] }, status: 'cancelled' })).toBe(2);
});
