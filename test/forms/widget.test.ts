/**
 * <frontage-form> in a real browser, on a page of the site's own origin. `FRONTAGE_PICTURES=<folder>` keeps pictures of it.
 * @module-tag chromium
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { type Browsing, openBrowsing } from '#test/web/browsing.ts';
import { challengeEnv, forms } from './fixture.ts';

let own: Fixture;
let hosted: Fixture;
let browsing: Browsing;
const verifier = createServer((request, answer) => void standIn(request, answer));
const asked: string[] = [];
let refusesNext = false;

beforeAll(async () => {
  browsing = await openBrowsing();
  await new Promise<void>((ready) => verifier.listen(0, '127.0.0.1', ready));
  const env = { ...challengeEnv, FRONTAGE_EDGE_URL: browsing.edgeUrl };
  own = await createFixture(env);
  hosted = await createFixture({
    ...env,
    FRONTAGE_CHALLENGE: 'turnstile',
    FRONTAGE_CHALLENGE_URL: `http://127.0.0.1:${(verifier.address() as AddressInfo).port}`,
    FRONTAGE_CHALLENGE_SITE_KEY: 'public key',
  });
});
afterAll(async () => {
  await browsing?.close();
  await own?.close();
  await hosted?.close();
  verifier.close();
});

/** Speaks as the verifier does: its script draws a box to tick, and each token is good once. */
async function standIn(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  if (request.url?.startsWith('/turnstile/v0/api.js?render=explicit')) {
    return void answer.setHeader('content-type', 'text/javascript').end(`const drawn = [];
globalThis.turnstile = {
  render(place, { sitekey, callback }) {
    const draw = () => { place.innerHTML = '<label><input type=checkbox> I am a person for ' + sitekey + '</label>';
      place.querySelector('input').onchange = () => callback('good ' + sitekey + ' ' + Math.random()); };
    draw(); return drawn.push(draw) - 1;
  },
  reset(id) { drawn[id](); },
};`);
  }
  const token = new URLSearchParams(await text(request)).get('response') ?? '';
  const success = token.startsWith('good public key') && !asked.includes(token) && !refusesNext;
  refusesNext = false;
  asked.push(token);
  answer.setHeader('content-type', 'application/json').end(JSON.stringify({ success }));
}

const long = 'Einwilligung in die Datenschutzgrundverordnungskonforme Weiterverarbeitung';
const fields = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'email', label: 'E-Mail-Adresse', kind: 'email', required: true },
  { name: 'art', label: 'Rechtsschutzversicherungsgesellschaften', kind: 'select', options: ['Haftpflicht', long] },
  { name: 'wann', label: 'Wann?', kind: 'radio', options: ['Donnerstagnachmittag', long] },
  { name: 'ja', label: long, kind: 'checkbox', required: true },
  { name: 'text', label: 'Nachricht', kind: 'textarea' },
];

async function shown(
  fixture: Fixture,
  { fields: given = fields, theme = 'light' as 'light' | 'dark', width = 390, snippet = false, texts = {} },
) {
  const ask = forms(fixture);
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { name: 'Kontakt', fields: given, ...texts });
  const inside = snippet
    ? (await ask.visitor('GET', `/f/${form.id}`)).body.html.replaceAll(fixture.config.baseUrl, fixture.url)
    : `<frontage-form form="${form.id}"></frontage-form><script type="module" src="${fixture.url}/f/widget.js"></script>`;
  const page = await browsing.open(form.site.name, inside, { theme, width, lang: 'de' });
  const kept = async () => (await ask.submissions(owner, form.id)).body.items;
  return { page, kept, form };
}

test.each([
  ['light', 390],
  ['dark', 1280],
] as const)('the form fits in %s at %i px, with long German words', async (theme, width) => {
  const { page } = await shown(own, { theme, width });
  await page.getByLabel('Nachricht').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.getByRole('button', { name: 'Senden' }).focus();
  await browsing.keep(page, `form-${theme}-${width}`);
  const tree = await page.locator('frontage-form').ariaSnapshot();
  expect(tree.match(/(textbox|combobox|group|radio|checkbox|button) "[^"]*"/g)).toEqual([
    'textbox "Name"',
    'textbox "E-Mail-Adresse"',
    'combobox "Rechtsschutzversicherungsgesellschaften (optional)"',
    'group "Wann? (optional)"',
    'radio "Donnerstagnachmittag"',
    `radio "${long}"`,
    `checkbox "${long}"`,
    'textbox "Nachricht (optional)"',
    'button "Senden"',
  ]);
  await page.context().close();
});

test('the owner’s button and thanks are shown in the widget', async () => {
  const fields = [{ name: 'name', label: 'Name', kind: 'text', required: true }];
  const texts = { button: 'Tisch anfragen', thanks: 'Wir rufen zurück.\nMontag bis Freitag.' };
  const { page } = await shown(own, { fields, texts });
  await page.getByLabel('Name').fill('Ada');
  await browsing.keep(page, 'form-own-button');
  await page.getByRole('button', { name: 'Tisch anfragen' }).click();
  await page.getByText('Wir rufen zurück.').waitFor();
  await page.context().close();
});

test.each([false, true])(
  'an external verifier appears in the form, with single-use tokens (snippet: %s)',
  async (snippet) => {
    const simple = [
      { name: 'name', label: 'Name', kind: 'text', required: true },
      { name: 'site', label: 'Web', kind: 'text' },
    ];
    const { page, kept } = await shown(hosted, { fields: simple, snippet });
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('I am a person for public key').check();
    await browsing.keep(page, `form-hosted-${snippet}`);
    await page.getByRole('button', { name: /Send/ }).click();
    await page.getByText('Danke. Ihre Nachricht wurde gesendet.').waitFor();
    expect(await kept()).toMatchObject([{ fields: { name: 'Ada' } }]);
    await page.context().close();
  },
);

test('a rejected token is requested again', async () => {
  const { page, kept } = await shown(hosted, {
    fields: [{ name: 'name', label: 'Name', kind: 'text', required: true }] as never,
  });
  await page.getByLabel('Name').fill('Ada');
  const tick = page.getByLabel('I am a person for public key');
  await tick.waitFor();
  const seen = asked.length;
  refusesNext = true;
  await tick.check();
  await page.getByRole('button', { name: 'Senden' }).click();
  await page.locator('[data-fault]').waitFor();
  expect(asked).toHaveLength(seen + 1);
  await page.getByLabel('Name').focus();
  await page.getByRole('button', { name: 'Senden' }).click();
  // Drawn anew: what was ticked is good no more.
  await expect.poll(() => tick.isChecked()).toBe(false);
  await tick.check();
  await page.getByText('Danke. Ihre Nachricht wurde gesendet.').waitFor();
  expect(await kept()).toHaveLength(1);
  await page.context().close();
});

test('a message whose response was lost is stored once when it is sent again', async () => {
  const { page, kept, form } = await shown(own, {
    fields: [{ name: 'name', label: 'Name', kind: 'text', required: true }] as never,
  });
  let lost = 0;
  await page.route(`${own.url}/f/${form.id}`, async (route) => {
    if (route.request().method() !== 'POST' || lost++ > 0) return await route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel('Name').fill('Ada');
  const button = page.getByRole('button', { name: 'Senden' });
  await button.click();
  await page.locator('[data-fault]').waitFor();
  await button.click();
  await page.getByText('Danke. Ihre Nachricht wurde gesendet.').waitFor();
  expect(await kept()).toHaveLength(1);
  await page.context().close();
});
