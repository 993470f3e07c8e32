import { afterAll, expect, test } from 'vitest';
import { limitNames } from '#rules/limit-names.ts';
import type { Plan } from '#rules/plans.ts';
import { readConfig } from '#runtime/config.ts';
import { callWith, createFixture, createSite } from '#test/api/fixture.ts';
import { createBillingFixture, ownPlans, writeCatalog } from './fixture.ts';

const secret = { FRONTAGE_SECRET: 'a secret of the tests, long enough' };
const read = (content: unknown, env: object = {}) =>
  readConfig({ ...secret, FRONTAGE_PLANS: writeCatalog(content), ...env } as NodeJS.ProcessEnv);
const changed = (change: (plans: Record<string, Plan>) => void) => {
  const plans = ownPlans();
  change(Object.fromEntries(plans.map((plan) => [plan.name, plan])));
  return plans;
};

test('the project’s catalog is valid, and its largest plan applies without metering', () => {
  const { plans, plan, billing } = readConfig(secret as unknown as NodeJS.ProcessEnv);
  expect(billing).toBeUndefined();
  expect(plan).toBe(plans.at(-1)?.name);
  for (const { limits } of plans) expect(Object.keys(limits).sort()).toEqual([...limitNames].sort());
});

// biome-ignore lint/suspicious/noExplicitAny: what is wrong with it is the point.
type Any = any;
test.each<[string, unknown, RegExp]>([
  ['no JSON', '{', /FRONTAGE_PLANS: .* cannot be read as JSON/],
  ['no plan', [], /FRONTAGE_PLANS: /],
  ['a plan twice', [...ownPlans(), ownPlans()[3]], /studio: occurs more than once/],
  [
    'a first plan with a price',
    changed(({ free }) => {
      (free as Any).price.amount = 1;
    }),
    /free: is the first plan/,
  ],
  [
    'a free plan that is sold',
    changed(({ free }) => {
      (free as Any).sellable = true;
    }),
    /free: is free/,
  ],
  [
    'a price below the card minimum',
    changed(({ hobby }) => {
      (hobby as Any).price.amount = 49;
    }),
    /hobby: cannot be sold at its price: .*at least €0\.50/,
  ],
  [
    'a domain in a plan that is sold',
    changed(({ shop }) => {
      (shop as Any).sellable = true;
    }),
    /shop: includes a domain/,
  ],
  [
    'a cap below that of the plan before',
    changed(({ studio }) => {
      (studio as Any).limits.sites = 1;
    }),
    /studio: limits.sites is lower than in the smaller plan shop/,
  ],
  [
    'a feature of more than a line',
    changed(({ hobby }) => {
      (hobby as Any).includes = ['x'.repeat(200), 'x'.repeat(201)];
    }),
    /hobby\.includes\.1: (?!.*includes\.0)/,
  ],
  [
    'a missing cap',
    changed(({ hobby }) => {
      delete (hobby as Any).limits.tokens;
    }),
    /hobby.limits.tokens: /,
  ],
  [
    'an unknown cap',
    changed(({ hobby }) => {
      (hobby as Any).limits.cakes = 1;
    }),
    /hobby.limits: .*cakes/,
  ],
  [
    'an unknown currency',
    changed(({ hobby }) => {
      (hobby as Any).price.currency = 'EURO';
    }),
    /hobby.price.currency: is not an ISO 4217 currency/,
  ],
  [
    'more preview slots than an address can name',
    changed(({ studio }) => {
      (studio as Any).limits.preview_slots = 10_000;
    }),
    /studio: limits.preview_slots/,
  ],
])('a catalog with %s is refused at start, with the faulty place', (_what, content, message) => {
  expect(() => read(content)).toThrow(message);
});

test('all faults of the settings are reported together', () => {
  const wrong = changed(({ shop, studio }) => {
    (shop as Any).sellable = true;
    (studio as Any).limits.sites = 1;
  });
  const act = () => read(wrong, { FRONTAGE_PLAN: 'gold', FRONTAGE_API_PORT: 'x' });
  for (const part of [/shop: includes/, /studio: limits.sites/, /FRONTAGE_API_PORT/]) expect(act).toThrow(part);
  expect(() => read(ownPlans(), { FRONTAGE_PLAN: 'gold' })).toThrow(
    /FRONTAGE_PLAN: the plan catalog has no plan named gold/,
  );
});

const fixtures = await Promise.all([createFixture(), createBillingFixture({ worker: false })]);
afterAll(() => Promise.all(fixtures.map((fixture) => fixture.close())));

test('reading the plan costs no query', async () => {
  const counts = await Promise.all(
    fixtures.map(async (fixture) => {
      const asked: string[] = [];
      const { deps } = fixture;
      const owner = await fixture.newCaller();
      const site = await createSite(owner, { template: 'blank' });
      const driver = deps.orm.em.getDriver().getConnection() as Any;
      const execute = driver.executeQuery.bind(driver);
      driver.executeQuery = (sql: string, ...rest: unknown[]) => {
        asked.push(sql);
        return execute(sql, ...rest);
      };
      const call = callWith(fixture.url, owner.token);
      const credential = await call('POST', `/v1/sites/${site.id}/git-credentials`, {
        body: { repository: 'source', access: 'write' },
      });
      const { username, password } = credential.body;
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const spans: Record<string, number> = {};
      const count = async (name: string, act: () => Promise<unknown>) => {
        const before = asked.length;
        await act();
        spans[name] = asked.length - before;
      };
      await call('GET', `/v1/sites/${site.id}`);
      await count('site', () => call('GET', `/v1/sites/${site.id}`));
      await count('sites', () => call('GET', '/v1/sites'));
      await count('push', () =>
        fetch(`${fixture.url}/git/${site.id}.git/info/refs?service=git-receive-pack`, { headers: { authorization } }),
      );
      await count('commit', () =>
        call('POST', `/v1/sites/${site.id}/commits`, {
          body: { message: 'm', changes: [{ path: 'a.txt', text: 'x' }] },
        }),
      );
      await count('publish', () =>
        call('POST', `/v1/sites/${site.id}/publish`, { headers: { prefer: 'respond-async' } }),
      );
      await count('comment', () => call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body: 'x' } }));
      return spans;
    }),
  );
  expect(counts[0]?.publish).toBeGreaterThan(2);
  expect(counts[1]).toEqual(counts[0]);
});
