import { afterAll, expect, test } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { announceBuilder } from '#db/deployments/builder-capacity.ts';
import { limitNames } from '#rules/limit-names.ts';
import { createFixture, createSite } from './fixture.ts';

const fixture = await createFixture({
  FRONTAGE_SANDBOX: 'off',
  FRONTAGE_SKETCHES: 'off',
  FRONTAGE_PLAN: 'studio',
});
afterAll(() => fixture.close());

test('the account contains its usage, limits and capabilities', async () => {
  const owner = await fixture.newCaller();
  const sites = [await createSite(owner), await createSite(owner), await createSite(owner)];
  await owner.call('POST', `/v1/sites/${sites[0].id}/archive`);
  const { body } = await owner.call('GET', '/v1/account');
  expect(body).toMatchObject({
    id: owner.accountId,
    pending_email: null,
    counts: { sites: 2, archived_sites: 1, domains: 0 },
    billing: { enabled: false, plan: 'studio' },
    payouts: { enabled: false, rails: [], accounts: [] },
    domain_onboarding: { modes: [] },
    base_domain: 'sites.localhost',
    offers_to_answer: 0,
  });
  expect(Object.keys(body.limits).sort()).toEqual([...limitNames].sort());
  expect(body.limits.sites).toEqual({ value: 50, used: 2 });
  expect(body.limits.tokens).toEqual({ value: 100, used: 1 });
  expect(body.limits.publishes_per_hour).toEqual({ value: 60, used: 0 });
  expect([body.skill, body.created_at]).toEqual([
    expect.stringMatching(/^[0-9a-f]{16}$/),
    expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  ]);
  const on = Object.entries(body.capabilities).filter(([, isOn]) => isOn);
  expect([Object.keys(body.capabilities).length, on]).toEqual([
    14,
    [
      ['previews', true],
      ['files', true],
      ['analytics', true],
      ['bookings', true],
    ],
  ]);
  expect(body.email).toMatch(/@example\.com$/);
});

test('an address has one account, in any spelling and under concurrent sign-ins', async () => {
  const open = (email: string) => openAccount(fixture.deps.em(), fixture.clock, { email, name: 'Ada' });
  const opened = await Promise.all(
    Array.from({ length: 10 }, (_, n) => open(n % 2 ? 'ada@example.com' : ' Ada@Example.com')),
  );
  expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  expect(opened[0]?.email).toBe('ada@example.com');
  for (const email of ['', 'ada', '@example.com', 'ada@', 'a b@example.com', 'Ada <ada@example.com>']) {
    await expect(open(email)).rejects.toMatchObject({ code: 'invalid_email' });
  }
});

test('the account lists the sandbox of every running worker, once each', async () => {
  const crowd = await createFixture({}, { builders: false });
  const withdrawals: (() => Promise<void>)[] = [];
  try {
    const owner = await crowd.newCaller();
    const sandboxes = async () => (await owner.call('GET', '/v1/account')).body.sandboxes;
    expect(await sandboxes()).toEqual([]);
    for (const kind of ['unprotected', 'docker', 'docker', 'of a later version'])
      withdrawals.push(await announceBuilder(crowd.deps, { sandbox: kind, slots: 1 }));
    expect(await sandboxes()).toEqual(['docker', 'unprotected']);
    await withdrawals[0]?.();
    expect(await sandboxes()).toEqual(['docker']);
    // Killed workers do not withdraw.
    crowd.skip(4 * 60_000);
    expect(await sandboxes()).toEqual([]);
    expect((await owner.call('GET', '/v1/account')).body.capabilities.builds).toBe(true);
  } finally {
    for (const withdraw of withdrawals) await withdraw();
    await crowd.close();
  }
});
