/** A visitor in a real browser on a published site: the form is sent, the owner's mail arrives, and robots are refused. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';
import { until } from '#test/stack/until.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { newSite, post } from './story.ts';

const stack = useStack();
let browser: Browser | undefined;
let form: { id: string; name: string; address: string; html: string; notifyTo: string };

beforeAll(async () => {
  const site = await newSite();
  const fields = [
    { name: 'name', label: 'Your name', kind: 'text', required: true },
    { name: 'email', label: 'Your address', kind: 'email', required: true },
    { name: 'topic', label: 'Topic', kind: 'radio', options: ['Bread', 'Cake'], required: true },
    { name: 'days', label: 'Days', kind: 'checkboxes', options: ['Mon', 'Tue'] },
    { name: 'message', label: 'Message', kind: 'textarea' },
  ];
  const { body } = await post(`/v1/sites/${site.id}/forms`, { name: 'Contact', fields });
  const { html } = (await stack.api(`/f/${body.id}`)).body;
  const { body: shown } = await stack.api(`/v1/sites/${site.id}`);
  form = { id: body.id, name: site.name, address: shown.address, html, notifyTo: body.notify_to };
  await publishPages(site.id, {
    // A reset of all style stands before it, as Tailwind's does.
    'contact/index.html': page('en', `<style>@layer base{*{border:0;padding:0;background:none}}</style>${html}`),
    'plain/index.html': page('en', html.replace(/<script.*<\/script>/s, '')),
    'kontakt/index.html': page(
      'de',
      `<frontage-form form="${body.id}"></frontage-form>${/<script.*<\/script>/s.exec(html)?.[0]}`,
    ),
  });
  await until(
    async () => (await stack.visit(site.name, '/contact/')).text,
    (text) => text.includes('frontage-form'),
  );
  if (await pathOf('chromium')) browser = await launchChromium();
});
afterAll(() => browser?.close());

const page = (lang: string, inside: string) =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Contact</title><link rel="icon" href="data:,"></head><body><main><h1>Contact</h1>${inside}</main></body></html>`;

async function publishPages(siteId: string, pages: Record<string, string>): Promise<void> {
  const { body: upload } = await post(`/v1/sites/${siteId}/deployments`);
  const files = Object.entries(pages).map(([path, text]) => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { path, text, sha256, bytes: Buffer.byteLength(text) };
  });
  await post(`/v1/deployments/${upload.id}/manifest`, { files: files.map(({ text: _text, ...file }) => file) });
  for (const { sha256, text } of files) {
    const headers = { authorization: `Bearer ${stack.owner.token}`, 'content-type': 'application/octet-stream' };
    const put = await fetch(`${stack.baseUrl}/v1/deployments/${upload.id}/files/${sha256}`, {
      method: 'PUT',
      body: text,
      headers,
    });
    expect(put.status).toBe(200);
  }
  expect((await post(`/v1/deployments/${upload.id}/complete`)).body.status).toBe('live');
}

async function open(address: string): Promise<{ page: Page; faults: string[]; sent: string[] }> {
  const page = await (browser as Browser).newPage();
  const faults: string[] = [];
  const sent: string[] = [];
  page.on(
    'console',
    (line) => line.type() === 'error' && !/status of 400/.test(line.text()) && faults.push(line.text()),
  );
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.postData() ?? ''));
  await page.goto(address);
  return { page, faults, sent };
}

const submissions = async () => (await stack.api(`/v1/forms/${form.id}/submissions`)).body.items;
const fill = async (page: Page, who: string) => {
  await page.getByLabel('Your name').fill(who);
  await page.getByLabel('Your address').fill('ada@example.com');
  await page.getByLabel('Cake').check();
  await page.getByLabel('Tue').check();
  await page.getByLabel('Message').fill('Two,\nplease');
};

test('a visitor solves the challenge, sends a form, and the owner receives the mail', {
  tags: 'chromium',
}, async () => {
  const { page, faults, sent } = await open(`${form.address}/contact/`);
  const field = page.getByLabel('Message');
  expect(await field.inputValue()).toBe('');
  expect(await page.evaluate('getComputedStyle(document.querySelector("textarea")).borderTopWidth')).toBe('1px');
  await fill(page, 'Ada of the widget');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Thank you. Your message has been sent.').waitFor();
  expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('status');
  expect(faults).toEqual([]);
  const [kept] = await submissions();
  expect(kept).toMatchObject({
    fields: {
      name: 'Ada of the widget',
      email: 'ada@example.com',
      topic: 'Cake',
      days: ['Tue'],
      message: 'Two,\nplease',
    },
    page: '/contact/',
  });
  const mails = async () => {
    const answer = await fetch(`${stack.mailUrl}/messages?to=${encodeURIComponent(form.notifyTo)}`);
    return ((await answer.json()) as { items: { text: string }[] }).items.filter(({ text }) =>
      text.includes('Ada of the widget'),
    );
  };
  expect(await until(mails, ({ length }) => length > 0)).toHaveLength(1);
  // What the browser sent, sent again by a script: the solution was taken once.
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const again = await fetch(`${stack.baseUrl}/f/${form.id}`, { method: 'POST', body: sent.at(-1) ?? '', headers });
  expect([again.status, ((await again.json()) as { error: { code: string } }).error.code]).toEqual([
    400,
    'not_a_person',
  ]);
  expect(await submissions()).toHaveLength(1);
  await page.close();
});

test('a form built from its description works by keyboard alone, in the page’s language', {
  tags: 'chromium',
}, async () => {
  const { page, faults } = await open(`${form.address}/kontakt/`);
  await page.getByLabel('Your name').waitFor();
  expect(await page.getByRole('group', { name: 'Days (optional)' }).count()).toBe(1);
  const type = async (text: string) => {
    await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  };
  await type('Ada of the keyboard');
  await type('ada@example.com');
  // The first press of a group, then a box of the next.
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await type(' ');
  await page.keyboard.press('Tab');
  await type('Gern');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Danke. Ihre Nachricht wurde gesendet.').waitFor();
  expect(faults).toEqual([]);
  expect((await submissions())[0].fields).toMatchObject({
    name: 'Ada of the keyboard',
    topic: 'Cake',
    days: ['Mon'],
    message: 'Gern',
  });
  await page.close();
});

test('a form without scripts opens our page with the input and a solved challenge', { tags: 'chromium' }, async () => {
  const { page, faults } = await open(`${form.address}/plain/`);
  await fill(page, 'Ada of the plain form');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('One more step before your message is sent.').waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('Two,\nplease');
  expect(await page.getByLabel('Cake').isChecked()).toBe(true);
  await page.locator('input[name=altcha]').waitFor({ state: 'attached' });
  await expect.poll(() => page.locator('input[name=altcha]').inputValue(), { timeout: 30_000 }).not.toBe('');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  expect(faults).toEqual([]);
  expect((await submissions())[0].fields.name).toBe('Ada of the plain form');
  await page.close();
});

test('a form on a foreign page is refused without losing the input', { tags: 'chromium' }, async () => {
  const before = (await submissions()).length;
  const foreign = createServer((_request, answer) => answer.setHeader('content-type', 'text/html').end(form.html));
  await new Promise<void>((ready) => foreign.listen(0, '127.0.0.1', ready));
  const { page } = await open(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
  await fill(page, 'Ada elsewhere');
  await page.getByRole('button', { name: 'Send' }).click();
  // Its script may not even read the challenge.
  await page.getByText('Your message could not be sent. Please try again.').waitFor();
  await page.evaluate('document.querySelector("form").submit()');
  await page.getByText('The request came from a page that is not on this website.').waitFor();
  expect(await page.getByText('Ada elsewhere').count()).toBe(1);
  expect((await submissions()).length).toBe(before);
  await page.close();
  foreign.close();
});
