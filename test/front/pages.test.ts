/**
 * The pages of the front door in Chromium: axe finds nothing, they are light, and nothing moves while they load.
 * `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { violationsOf } from '#test/web/axe.ts';
import { type Chrome, type Look, look, openChrome, openLight } from '#test/web/looks.ts';

let fixture: PeopleFixture;
let chrome: Chrome;
let here: URL;

beforeAll(async () => {
  fixture = await createPeopleFixture();
  here = Object.assign(new URL(fixture.url), { hostname: 'localhost' });
  chrome = await openChrome();
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  await fixture?.close();
});

const pages = {
  front: '/',
  nothing: '/nothing',
  docs: '/docs',
  tour: '/docs/tour',
  mails: '/docs/mails',
  operations: '/docs/operations',
  skill: '/docs/skill/SKILL',
  api: '/docs/api',
  reference: '/docs/api/sites',
  errors: '/docs/errors',
};
test.each<Look>([
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
])('every page is accessible, light and still, at $width px, $colorScheme', { timeout: 120_000 }, async (shown) => {
  const page = await chrome.newPage(shown, { permissions: ['clipboard-read', 'clipboard-write'] });
  const complaints: string[] = [];
  page.on('console', (message) => message.type() !== 'log' && complaints.push(message.text()));
  for (const [name, path] of Object.entries(pages)) {
    await openLight(page, new URL(path, here).href);
    await look(page, name, shown);
    expect([name, ...(await violationsOf(page))]).toEqual([name]);
  }
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  await page.context().close();
});

test('a copy button copies what stands beside it', async () => {
  const page = await chrome.newPage(
    { width: 390, colorScheme: 'light' },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
  await page.goto(here.href);
  await page.getByRole('button', { name: 'Copy the address for Claude' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${fixture.config.baseUrl}/mcp`);
  await page.context().close();
});
