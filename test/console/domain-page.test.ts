/**
 * An owner connects a domain by hand, step by step.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDomainFixture, type DomainFixture, freeDomain } from '#test/domains/fixture.ts';
import { violationsOf } from '#test/web/axe.ts';
import { openChrome } from '#test/web/looks.ts';
import { notice, press, pressInPlace, typeInto, walk, ways } from './journeys.ts';
import { addSession, signedIn } from './session.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture({ FRONTAGE_BASE_URL: 'http://desk.localhost' });
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
  const offered = [...refused.text.matchAll(/<input type="radio" name="mode" value="(\w+)"( checked)?>/g)];
  expect(offered.map(([, mode, checked]) => [mode, checked !== undefined])).toEqual([
    ['cname', true],
    ['nameservers', false],
  ]);
  expect(refused.text).toContain('E-mail at this domain stops unless its records are added here first.');
  let page = await browser.press(refused, 'Connect the domain', { domain, mode: 'cname' });
  expect(page.text).toContain('Now follow the steps.');
  const read = async () => (await owner.call('GET', '/v1/domains')).body.items[0];
  const shown = await read();
  for (const { value } of shown.setup) expect(page.text).toContain(`<code>${value}</code>`);
  for (const step of ['Prove that the domain is yours', 'Point it here', 'Certificate'])
    expect(page.text).toContain(step);
  expect(page.text).toContain(`These steps connect ${domain} to ${site.title}.`);
  for (const notYet of ['✓ done', 'Show this site there</button>']) expect(page.text).not.toContain(notYet);
  const asked = await browser.open(`${pages}/${shown.id}/remove`);
  expect(asked.text).toContain('It will show no site. This does not change who owns the domain.');
  fixture.setUp(shown);
  fixture.skip(5_000);
  expect((await browser.open(page.url)).text).toContain('Not checked yet. Next check in a moment.');
  page = await browser.press(page, 'Check now');
  expect((await read()).status).toBe('active');
  await fixture.certify(shown);
  page = await browser.press(await browser.open(page.url), 'Show this site there');
  expect(page.text).toContain(`${domain} is the main address of this site.`);
  expect(page.text.match(/✓ done/g)).toHaveLength(4);
  expect((await browser.open(pages)).text).toContain('<span class="tag">Connected</span>');
  const other = await fixture.newSite(owner);
  const elsewhere = await browser.open(`/account/sites/${other.id}/domains/${shown.id}`);
  expect(elsewhere.text).toContain(`${domain} shows another site.`);
  expect(elsewhere.text).toContain(`href="${pages}/${shown.id}"`);
  expect(elsewhere.text).not.toMatch(/<button[^>]*>Show this site there/);
  page = await browser.press(await browser.open(`${pages}/${shown.id}/detach`), 'Take it off');
  expect([(await read()).site_id, page.text.includes('no longer shows a site')]).toEqual([null, true]);
  expect(page.text).toContain(`<li><a href="/account/sites/${other.id}/domains/${shown.id}">`);
  page = await browser.press(await browser.open(`${pages}/${shown.id}/remove`), 'Remove the domain');
  expect([await read(), page.text.includes(`${domain} is removed.`)]).toEqual([undefined, true]);
  const history = await browser.open(`/account/sites/${site.id}/history`);
  expect(history.text).toContain(`${domain} · `);
  const [link = ''] = /\/account\/history(?=">your account’s history<)/.exec(history.text) ?? [];
  const { text } = await browser.open(link);
  for (const did of [
    'Added a domain to',
    'Made a domain the main address of',
    'Detached a domain from',
    'Removed a domain from',
  ])
    expect(text).toMatch(new RegExp(`<strong>${did} [^<]*</strong><small>${domain} · `));
});

test.each(ways)(
  'an owner verifies, points and shows a domain ($name)',
  { tags: 'chromium', timeout: 60_000 },
  async (way) => {
    const { width, theme: colorScheme, forced, scripts } = way;
    const chrome = await openChrome(`MAP desk.localhost 127.0.0.1:${new URL(fixture.url).port}`);
    const options = {
      forcedColors: forced ? 'active' : 'none',
      javaScriptEnabled: scripts,
    } as const;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = walk(await chrome.newPage({ width, colorScheme }, { ...options, permissions }), way);
    const owner = await fixture.newCaller();
    const site = await fixture.newSite(owner);
    await addSession(fixture, owner.accountId, page);
    await page.goto(`http://desk.localhost/account/sites/${site.id}/domains`);
    const name = freeDomain();
    await typeInto(page, 'Domain', name);
    expect(await page.getByLabel(/^I keep my DNS where it is/).isChecked()).toBe(true);
    const fit = `[...document.querySelectorAll('.choice')].map((one) => one.scrollWidth <= one.clientWidth)`;
    expect(await page.evaluate(fit)).toEqual([true, true]);
    await press(page, 'Connect the domain');
    expect(await notice(page)).toContain('Now follow the steps.');
    const shown = (await owner.call('GET', '/v1/domains')).body.items[0];
    for (const { value } of shown.setup) {
      const copy = page.locator('.set li', { hasText: value }).getByLabel('Copy the value');
      expect(await copy.isVisible()).toBe(scripts);
      if (!scripts) continue;
      await pressInPlace(page, copy);
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(value);
    }
    const [box = 0, line = 1] = await page.evaluate<number[]>(
      `['.copyable', '.domain'].map((one) => document.querySelector(one).getBoundingClientRect().width)`,
    );
    if (width === 390) expect(box / line).toBeGreaterThan(0.8);
    const check = async (isSet: (record: { type: string }) => boolean) => {
      fixture.setUp({ ...shown, setup: shown.setup.filter(isSet) });
      fixture.skip(5_000);
      await press(page, 'Check now');
      const steps = await page.locator('.steps .done h3').allTextContents();
      return steps.map((step) => step.replace(' ✓ done', ''));
    };
    const proven = 'Prove that the domain is yours';
    expect(await check(({ type }) => type === 'TXT')).toEqual([proven]);
    expect(await violationsOf(page, page, true)).toEqual([]);
    expect(await check(({ type }) => type !== 'TXT')).toEqual([proven, 'Point it here']);
    await fixture.certify(shown);
    await press(page, 'Show this site there');
    expect(await notice(page)).toContain(`${name} is the main address of this site.`);
    expect(await page.locator('.steps .done').count()).toBe(4);
    await chrome.close();
  },
);
