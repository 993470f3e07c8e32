/**
 * An owner connects a domain by hand, step by step.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDomainFixture, type DomainFixture, freeDomain } from '#test/domains/fixture.ts';
import { signedIn } from './session.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
});
afterAll(() => fixture?.close());

test('an owner connects a domain by its page, moves it off and removes it', async () => {
  const owner = await fixture.newCaller();
  const site = await fixture.newSite(owner);
  const browser = await signedIn(fixture, owner.accountId);
  const pages = `/account/sites/${site.id}/domains`;
  const domain = freeDomain();
  const refused = await browser.press(await browser.open(pages), 'Connect the domain', {
    domain: 'not a name',
    mode: 'cname',
  });
  expect([refused.status, refused.text.includes('value="not a name"'), refused.text.includes('role="alert"')]).toEqual([
    400,
    true,
    true,
  ]);
  let page = await browser.press(refused, 'Connect the domain', { domain, mode: 'cname' });
  expect(page.text).toContain('Now follow the steps.');
  const read = async () => (await owner.call('GET', '/v1/domains')).body.items[0];
  const shown = await read();
  for (const { value } of shown.setup) expect(page.text).toContain(`<code>${value}</code>`);
  for (const step of ['Prove that the domain is yours', 'Point it here', 'Certificate'])
    expect(page.text).toContain(step);
  expect(page.text).not.toContain('✓ done');
  fixture.setUp(shown);
  fixture.skip(5_000);
  page = await browser.press(page, 'Check now');
  expect((await read()).status).toBe('active');
  await fixture.certify(shown);
  page = await browser.press(await browser.open(page.url), 'Show this site there');
  expect(page.text).toContain(`${domain} is the main address of this site.`);
  expect(page.text.match(/✓ done/g)).toHaveLength(3);
  expect((await browser.open(pages)).text).toContain('<span class="tag">Connected</span>');
  page = await browser.press(await browser.open(`${pages}/${shown.id}/detach`), 'Take it off');
  expect([(await read()).site_id, page.text.includes('no longer shows a site')]).toEqual([null, true]);
  page = await browser.press(await browser.open(`${pages}/${shown.id}/remove`), 'Remove the domain');
  expect([await read(), page.text.includes(`${domain} is removed.`)]).toEqual([undefined, true]);
});
