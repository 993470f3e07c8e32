/**
 * What is recorded about domains and their DNS records, by owners and the operator.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockDomain, unblockDomain } from '#db/domains/blocks.ts';
import { createSite } from '#test/api/fixture.ts';
import { createDomainFixture, type DomainFixture, freeDomain } from '#test/domains/fixture.ts';
import { expectRecorded, recordedBy } from './recording.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

test('a domain that is added, attached and blocked is recorded', async () => {
  const { deps, clock } = fixture;
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const body = { domain: freeDomain(), mode: 'cname' };
  await expectRecorded(deps, 'domain.added', () => owner.call('POST', '/v1/domains', { body }));
  const domain = await fixture.active(owner);
  const path = `/v1/domains/${domain.id}`;
  const attached = { body: { site_id: site.id } };
  await expectRecorded(deps, 'domain.attached', () => owner.call('POST', `${path}/attach`, attached));
  // Nothing changes.
  await expectRecorded(deps, [], () => owner.call('POST', `${path}/attach`, attached));
  const recorded = await recordedBy(deps, async () => {
    await blockDomain(deps.em(), clock, domain.id, 'Phishing');
    await unblockDomain(deps.em(), clock, domain.id);
  });
  expect(recorded.map(({ action, via_kind }) => [action, via_kind])).toEqual([
    ['domain.blocked', 'platform'],
    ['domain.unblocked', 'platform'],
  ]);
});

test('a DNS record that is added and removed is recorded', async () => {
  const { deps } = fixture;
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner, 'nameservers');
  const path = `/v1/domains/${domain.id}/records`;
  const record = { body: { type: 'A', name: 'shop', content: '192.0.2.1' } };
  const { body } = await expectRecorded(deps, 'domain_record.added', () => owner.call('POST', path, record));
  await expectRecorded(deps, 'domain_record.removed', () => owner.call('DELETE', `${path}/${body.record_id}`));
});
