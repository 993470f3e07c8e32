/**
 * The owner's page shows each domain's status and records, as a registrar's form needs them.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSite } from '#test/api/fixture.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { domains, startNames } from './fixture.ts';

let names: Awaited<ReturnType<typeof startNames>>;
let fixture: PeopleFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
let act: ReturnType<typeof domains>;
beforeAll(async () => {
  names = await startNames();
  fixture = await createPeopleFixture({ ...names.env, TEMPORAL_NAMESPACE: await createNamespace() });
  worker = await startWorker(fixture.deps);
  act = domains(fixture, names.dns);
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
  await names?.close();
});

test('an owner sees required, found and foreign records, and each domain’s site', async () => {
  const owner = await fixture.newSignedIn();
  expect((await owner.browser.open('/account/settings')).text).not.toContain('<h2>Domains</h2>');
  const site = await createSite(owner);
  const shows = await act.active(owner);
  await owner.call('POST', `/v1/domains/${shows.id}/attach`, { body: { site_id: site.id } });
  const moved = await act.active(owner);
  names.dns.set(moved.domain, 'A', '192.0.2.9');
  for (let looks = 0; looks < 3; looks++) await act.check(owner, moved, 6 * 60_000);
  const delegated = await act.bring(owner, 'nameservers');
  const pointed = await act.bring(owner, 'cname', `www.${shows.domain.replace('shop', 'cafe')}`);
  names.dns.set(`_frontage.${pointed.domain}`, 'TXT', ...pointed.setup.slice(0, 1).map(({ value }) => value));
  await act.check(owner, pointed);
  const { text } = await owner.browser.open('/account/settings');
  const partOf = ({ domain }: { domain: string }) =>
    text.split(`<strong>${domain}</strong>`)[1]?.split('</div>')[0] ?? '';
  expect(partOf(shows)).toContain(`Waiting for its certificate · shows ${new URL(site.address).hostname}`);
  // There is nothing to be set any more.
  expect(partOf(shows)).not.toContain('set these records');
  expect(partOf(moved)).toContain('Points to another server');
  expect(partOf(moved)).toContain('192.0.2.9');
  for (const { value } of delegated.setup) expect(partOf(delegated)).toContain(`<code>${value}</code>`);
  expect(partOf(delegated)).toContain('name servers');
  expect(partOf(delegated)).toContain('E-mail at this domain stops unless');
  for (const one of [delegated, pointed]) expect(partOf(one)).toContain('Action needed');
  const [proof, way] = partOf(pointed).split('<strong>CNAME</strong>');
  expect(proof).toContain(`<code>${pointed.setup[0]?.value}</code>`);
  expect(proof).toContain('<code>_frontage.www</code>');
  expect([proof?.includes('✓ found<'), way?.includes('>not set at your domain yet<')]).toEqual([true, true]);
});
