/**
 * An active domain whose DNS becomes wrong: API, inbox and the owner's page say the same from the first check that saw it.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { domainActivities } from '#activities/domains.ts';
import { Domain } from '#db/domains/domain.ts';
import { createSite } from '#test/api/fixture.ts';
import { arrivalsOf } from '#test/inbox/fixture.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { quickest } from '#test/stack/quickest.ts';
import { until } from '#test/stack/until.ts';
import { certifier, domains, type Shown, startNames } from './fixture.ts';

let names: Awaited<ReturnType<typeof startNames>>;
let fixture: PeopleFixture;
let act: ReturnType<typeof domains>;
beforeAll(async () => {
  names = await startNames();
  fixture = await createPeopleFixture(names.env);
  act = domains(fixture, names.dns);
});
afterAll(async () => {
  await fixture?.close();
  await names?.close();
});

type Owner = Awaited<ReturnType<PeopleFixture['newSignedIn']>>;
type Mode = 'cname' | 'nameservers';

/** Adds a domain without a worker: the first check is the one that the owner requests. */
async function newLive(owner: Owner, mode: Mode = 'cname'): Promise<Shown> {
  const added = await owner.call('POST', '/v1/domains', {
    body: { domain: `shop-${crypto.randomUUID()}.test`, mode },
    headers: { prefer: 'respond-async' },
  });
  act.setUp(added.body);
  expect((await act.check(owner, added.body)).body.status).toBe('active');
  await certifier(fixture)(added.body);
  const site = await createSite(owner);
  await owner.call('POST', `/v1/domains/${added.body.id}/attach`, { body: { site_id: site.id } });
  return added.body;
}

/** What the API, the inbox and the page say about the owner's only domain. */
async function said(owner: Owner, domain: Shown) {
  const view: Shown = await act.read(owner, domain);
  const { items } = (await owner.call('GET', '/v1/inbox')).body;
  const { text } = await owner.browser.open('/account/settings');
  const part = text.split(`<strong>${domain.domain}</strong>`)[1]?.split('</li>\n</ul>')[0] ?? '';
  const shown = [...part.matchAll(/<p class="fault">([^<]*)<\/p>/g)].map(([, problem]) => problem);
  const state = /<small>([^<·]*?)( ·|<)/.exec(part)?.[1];
  return { view, items, page: { problems: shown, state, isSetUpShown: part.includes('<ol class="set">') } };
}

async function expectRight(owner: Owner, domain: Shown): Promise<void> {
  const { view, items, page } = await said(owner, domain);
  expect(view).toMatchObject({ status: 'active', problems: [], waiting_on: null });
  expect(view.next_action).toBeUndefined();
  expect(items).toEqual([]);
  expect(page).toEqual({ problems: [], state: 'Works', isSetUpShown: false });
}

async function expectProblems(owner: Owner, domain: Shown, problems: string[]): Promise<void> {
  const { view, items, page } = await said(owner, domain);
  expect(view).toMatchObject({ status: 'active', waiting_on: 'owner' });
  expect(view.problems).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  for (const problem of view.problems) expect(view.next_action).toContain(problem);
  expect(items).toMatchObject([{ kind: 'domain', id: domain.id, next_action: view.next_action }]);
  expect(items[0].title).toBe(`The domain ${domain.domain} has a problem in its DNS.`);
  expect(page).toMatchObject({ problems: view.problems, state: 'Action needed' });
}

test.each<[string, Mode, (domain: Shown) => void, string[]]>([
  ['not registered', 'cname', ({ domain }) => names.dns.forget(domain), ['is not registered', 'TXT record']],
  ['not registered', 'nameservers', ({ domain }) => names.dns.forget(domain), ['is not registered']],
  ['elsewhere', 'cname', ({ domain }) => names.dns.set(domain, 'A', '192.0.2.9'), ['other addresses: 192.0.2.9']],
  ['elsewhere', 'nameservers', ({ domain }) => names.dns.delegate(domain, 'ns.other.test'), ['ns.other.test']],
  ['without address', 'cname', clearAddresses, ['has no address in the DNS any more']],
  ['without proof', 'cname', ({ domain }) => names.dns.set(`_frontage.${domain}`, 'TXT'), ['TXT record']],
])('an active domain %s (%s) says so from the first check until right', async (_state, mode, lose, problems) => {
  const owner = await fixture.newSignedIn();
  const domain = await newLive(owner, mode);
  await expectRight(owner, domain);
  lose(domain);
  await act.check(owner, domain);
  await expectProblems(owner, domain, problems);
  act.setUp(domain);
  await act.check(owner, domain);
  await expectRight(owner, domain);
});

function clearAddresses({ domain }: Shown): void {
  for (const type of ['A', 'AAAA'] as const) names.dns.set(domain, type);
}

test('a problem wakes calls that wait for the inbox within a second', async () => {
  const hear = async () => {
    const owner = await fixture.newSignedIn();
    const domain = await newLive(owner);
    const arrivals = () => arrivalsOf(fixture, owner.accountId);
    const [since, before] = [fixture.clock.now().toISOString(), await arrivals()];
    const heard = owner
      .call('GET', `/v1/inbox?wait=30&since=${since}`)
      .then(({ body }) => ({ items: body.items, at: performance.now() }));
    await until(arrivals, (n) => n > before);
    names.dns.set(domain.domain, 'A', '192.0.2.9');
    await act.check(owner, domain);
    const checkedAt = performance.now();
    const { items, at } = await heard;
    expect(items).toMatchObject([{ kind: 'domain', id: domain.id }]);
    return at - checkedAt;
  };
  expect(await quickest(1_000, hear)).toBeLessThan(1_000);
});

test('a DNS that does not respond is no problem, and ends none', async () => {
  const owner = await fixture.newSignedIn();
  const domain = await newLive(owner);
  const { settleDomain } = domainActivities(fixture.deps);
  /** A scheduled check, which records also what could not be queried. */
  const checkSilent = async () => {
    fixture.skip(3600_000);
    names.dns.fault = () => 'SERVFAIL';
    await settleDomain(domain.id).finally(() => {
      names.dns.fault = () => undefined;
    });
    const { checkedAt, sight } = await fixture.deps.em().findOneOrFail(Domain, { id: domain.id });
    expect([checkedAt, sight]).toMatchObject([expect.any(Date), { a: { unknown: true }, proof: { unknown: true } }]);
  };
  await checkSilent();
  await expectRight(owner, domain);
  names.dns.set(domain.domain, 'A', '192.0.2.9');
  await act.check(owner, domain);
  await checkSilent();
  await expectProblems(owner, domain, ['no longer pointed here when its DNS last responded']);
});
