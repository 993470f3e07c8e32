/** Checks of the DNS that name servers delay hold few activities of a worker. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { domainActivities } from '#activities/domains.ts';
import { Domain } from '#db/domains/domain.ts';
import { newId } from '#runtime/ids.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { freeDomain } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({
    FRONTAGE_DOMAINS: 'cname',
    FRONTAGE_CNAME_TARGET: 'cname.platform.test',
    FRONTAGE_EDGE_ADDRESSES: '127.0.0.1',
  });
});
afterAll(() => fixture.close());

async function due(account: string): Promise<string> {
  const em = fixture.deps.em();
  const [id, name, now] = [newId('dom'), freeDomain(), fixture.clock.now()];
  const state = { mode: 'cname', status: 'pending', statusSince: now, createdAt: now, nextCheckAt: now } as const;
  em.create(Domain, { id, account, name, registrable: name, proof: id, pair: id, ...state });
  await em.flush();
  return id;
}

test('an account has four slow DNS checks at once; another account is checked', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<{ unknown: true }>();
  const asked = new Set<string>();
  const dns = {
    ask(name: string, type: string) {
      if (type === 'A') asked.add(name);
      return released;
    },
    askParent: () => released.then((unknown) => ({ exists: 'unknown' as const, ns: unknown, ds: unknown })),
    isBogus: async () => false,
  };
  const { settleDomain } = domainActivities({ ...fixture.deps, dns });
  const [flood, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const ids: string[] = [];
  for (let at = 0; at < 4; at++) ids.push(await due(flood.accountId));
  const running = ids.map(settleDomain);
  await expect.poll(() => asked.size).toBe(4);
  const fifth = await due(flood.accountId);
  expect(await settleDomain(fifth)).toMatchObject({ isRemoved: false, leftMs: 0, wantsCertificate: false });
  const others = settleDomain(await due(other.accountId));
  await expect.poll(() => asked.size).toBe(5);
  release({ unknown: true });
  for (const state of await Promise.all([...running, others])) expect(state).toMatchObject({ isRemoved: false });
  expect(await settleDomain(fifth)).toMatchObject({ waitsFor: expect.stringContaining('**pending**') });
});
