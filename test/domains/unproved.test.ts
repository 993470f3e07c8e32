/**
 * A `cname` domain whose TXT record has disappeared from the DNS.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { codeOf, createDomainFixture, type DomainFixture, freeDomain } from './fixture.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

const post = (domain: string) => ({ body: { domain, mode: 'cname' }, headers: { prefer: 'respond-async' } });

describe('a cname domain without its TXT record', () => {
  const hour = 3600_000;

  test('can be claimed with a fresh proof after three checks and 24 hours', async () => {
    const [owner, next] = [await fixture.newCaller(), await fixture.newCaller()];
    const held = await fixture.active(owner, 'cname', `www.${freeDomain()}`);
    const claim = () => next.call('POST', '/v1/domains', post(held.domain));
    fixture.dns.set(`_frontage.${held.domain}`, 'TXT');
    for (let n = 0; n < 3; n++) expect((await fixture.check(owner, held)).body.status).toBe('active');
    const mails = await fixture.deps.em().find(Mail, { kind: 'domain-proof-missing', accountId: owner.accountId });
    expect(mails).toHaveLength(1);
    expect((await fixture.read(owner, held)).problems).toEqual([expect.stringContaining('is missing')]);
    fixture.skip(23 * hour);
    expect(codeOf(await claim())).toEqual([409, 'domain_taken']);
    fixture.skip(hour);
    const claimed = await claim();
    expect([claimed.status, claimed.body.status]).toEqual([200, 'pending']);
    // Without its own proof the claim is worth nothing, and the holder is served.
    expect((await fixture.check(next, claimed.body)).body.status).toBe('pending');
    expect((await fixture.check(owner, held)).body.status).toBe('active');
    fixture.setUp(claimed.body);
    expect((await fixture.check(next, claimed.body)).body.status).toBe('active');
    expect(codeOf(await owner.call('GET', `/v1/domains/${held.id}`))).toEqual([404, 'not_found']);
  });

  test('stays its holder’s while the DNS fails, or once the record is back', async () => {
    const [owner, next] = [await fixture.newCaller(), await fixture.newCaller()];
    const [silent, back] = [await fixture.active(owner), await fixture.active(owner)];
    fixture.dns.fault = ({ name }) => (name === `_frontage.${silent.domain}` ? 'SERVFAIL' : undefined);
    fixture.dns.set(`_frontage.${back.domain}`, 'TXT');
    for (let n = 0; n < 3; n++) for (const one of [silent, back]) await fixture.check(owner, one);
    fixture.dns.fault = () => undefined;
    fixture.setUp(back);
    await fixture.check(owner, back);
    fixture.skip(25 * hour);
    for (const { domain } of [silent, back])
      expect(codeOf(await next.call('POST', '/v1/domains', post(domain)))).toEqual([409, 'domain_taken']);
  });
});
