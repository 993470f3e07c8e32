/**
 * @module-tag chromium
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenes } from '#providers/photos/offline.ts';
import * as sample from '#test/git/samples.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { createMaterial, type Material } from './fixture.ts';

const offline = join(import.meta.dirname, '../../providers/photos/offline');
const photos = Object.keys(scenes).map((name) => join(offline, `${name}.jpg`));

let material: Material;
let browser: Browser | undefined;
let folder: string;
beforeAll(async () => {
  material = await createMaterial({ FRONTAGE_PHOTOS: 'offline' });
  folder = await mkdtemp(join(tmpdir(), 'frontage-page-'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await material.close();
  await rm(folder, { recursive: true, force: true });
});

const file = async (name: string, bytes: Buffer) => {
  await writeFile(join(folder, name), bytes);
  return join(folder, name);
};

/** Which of the first three photos are in the site's source. */
async function received(siteId: string): Promise<string[]> {
  const files = await material.files(siteId);
  return ['bread', 'coffee', 'dunes'].filter((name) => files.has(`src/assets/${name}.jpg`));
}

async function open(address: string, options: Parameters<Browser['newContext']>[0] = {}) {
  const context = (await browser?.newContext(options)) as BrowserContext;
  const page = await context.newPage();
  const asked: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  return { page, context, asked, faults, answer: await page.goto(address) };
}

/** Drops files on the page as a hand does: the browser builds the event, the page takes it from there. */
async function drop(page: Page, files: string[]): Promise<void> {
  const contents = await Promise.all(
    files.map(async (path) => [path.split('/').at(-1), (await readFile(path)).toString('base64')]),
  );
  await page.evaluate(`
    const carried = new DataTransfer();
    for (const [name, text] of ${JSON.stringify(contents)}) {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      carried.items.add(new File([bytes], name));
    }
    document.querySelector('#drop').dispatchEvent(
      new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));`);
}

describe('the page of an upload link', () => {
  test('accepts three dropped photos: they are in src/assets and in git', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 5 });
    const { page, asked, faults } = await open(link.address);
    // What a screen reader announces.
    await page.evaluate(`
      globalThis.said = new Set();
      new MutationObserver(() => {
        for (const one of document.querySelectorAll('#sent small > :not([aria-hidden])')) said.add(one.textContent);
      }).observe(document.querySelector('#sent'), { childList: true, subtree: true });`);
    await drop(page, photos.slice(0, 3));
    await page.locator('#sent li.done').nth(2).waitFor();
    const said = await page.evaluate<string[]>('[...said]');
    expect(said).toContain('Sent to the website.');
    for (const words of said) expect(words).toMatch(/^(Waiting|Sending|Checking…|Sent to the website\.)$/);
    expect(await page.locator('#left').textContent()).toBe('You can send 2 more photos.');
    expect(await received(owner.siteId)).toEqual(['bread', 'coffee', 'dunes']);
    const log = await material.log(owner.siteId);
    expect(log.filter((line) => line.includes('through an upload link'))).toHaveLength(3);
    expect(asked.filter((url) => !url.startsWith(material.url) && !url.startsWith('data:'))).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('shows when the link expires with the time zone, with and without scripts', async () => {
    const owner = await material.owner();
    const { address } = await material.link(owner, owner.siteId);
    const timeWith = async (javaScriptEnabled: boolean) => {
      const { page } = await open(address, { timezoneId: 'Asia/Kolkata', locale: 'en-GB', javaScriptEnabled });
      return await page.locator('time').textContent();
    };
    expect(await timeWith(true)).toMatch(/^\w+,? \d+ \w+ \d{4} at \d\d:\d\d GMT\+5:30$/);
    expect(await timeWith(false)).toMatch(/ at \d\d:\d\d UTC$/);
  });

  test('offers no HEIC in either picker, so that phones convert their photos', async () => {
    const owner = await material.owner();
    const { page } = await open((await material.link(owner, owner.siteId)).address);
    const offered = await page.locator('input[type=file]').evaluateAll((inputs) => inputs.map((one) => one.accept));
    expect(offered).toEqual([expect.stringMatching(/^image\/jpeg,image\/png,/), 'image/jpeg']);
    // `image/*` and a missing list include it.
    for (const accept of offered) expect(accept).not.toMatch(/hei[cf]|\*|^$/i);
  });

  test('explains why a renamed program is refused, and accepts the photo beside it', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    const { page } = await open(link.address);
    await page.setInputFiles('#files', [await file('holiday.jpg', sample.exe), photos[3] ?? '']);
    const refused = page.locator('#sent li.refused');
    await refused.waitFor();
    expect((await refused.allInnerTexts()).join()).toContain('holiday.jpg\nThis is a program, not a photo.');
    await page.locator('#sent li.done').waitFor();
  });

  test('refuses a file over the limit before sending, and closes when full', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 1, max_file_bytes: 5000 });
    const { page } = await open(link.address);
    await page.setInputFiles('#files', [
      await file('large.png', sample.pngOf(1, 1, sample.pngPart('teXt', Buffer.alloc(6000)))),
    ]);
    await page.getByText('This file is larger than the limit of 4 KB.').waitFor();
    await page.setInputFiles('#files', [await file('small.png', sample.png)]);
    await page.getByText('All your photos have been sent.').waitFor();
    expect(await page.locator('#sending').isVisible()).toBe(false);
    const again = await open(link.address);
    expect(again.answer?.status()).toBe(402);
    expect(await again.page.locator('h1').textContent()).toBe('All your photos have been sent');
  });

  test('offers the camera on a phone, and a bar for each file', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    const { page } = await open(link.address, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    expect(await page.locator('#camera').isVisible()).toBe(true);
    expect(await page.locator('#camera input').getAttribute('capture')).toBe('environment');
    await page.setInputFiles('#camera input', photos.slice(0, 1));
    await page.locator('#sent li.done progress').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('retries a broken connection, and stores the photo once', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 2 });
    const { page, context } = await open(link.address);
    await context.setOffline(true);
    await page.setInputFiles('#files', photos.slice(0, 1));
    await page.getByText('The connection was lost before the photo was fully sent.').waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('#sent li.done').waitFor();
    expect(await page.locator('#left').textContent()).toBe('You can send 1 more photo.');
  });

  test('sends a photo again that came while too many were sent', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 2 });
    const { page } = await open(link.address);
    const error = { code: 'rate_limited', message: 'Too many photos are being sent at the moment.' };
    const refusal = { status: 429, headers: { 'retry-after': '1' }, json: { error } };
    await page.route(link.address, (route) => route.fulfill(refusal), { times: 1 });
    await page.setInputFiles('#files', photos.slice(0, 1));
    await page.locator('#sent li.done').waitFor();
    expect(await page.locator('#left').textContent()).toBe('You can send 1 more photo.');
  });

  test('works where no script runs, as a plain form', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 2 });
    const { page } = await open(link.address, { javaScriptEnabled: false });
    const document = await file('menu.pdf', sample.pdf);
    await page.setInputFiles('#files', [...photos.slice(0, 1), document, ...photos.slice(1, 3)]);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.sent li').nth(3).waitFor();
    expect(await page.locator('.sent li.done strong').allTextContents()).toEqual(['bread.jpg', 'coffee.jpg']);
    expect(await page.locator('.sent li.refused').allInnerTexts()).toEqual([
      expect.stringMatching(/^menu.pdf\nThis is a document/),
      expect.stringMatching(/^dunes.jpg\nThis link has received its maximum number/),
    ]);
    expect(await received(owner.siteId)).toEqual(['bread', 'coffee']);
  });

  test('runs no script of an uploaded file, on our host or in the page', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    const name = '<img src=x onerror=alert(1)>.png';
    const { page } = await open(link.address);
    const alerts: string[] = [];
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message());
      return dialog.dismiss();
    });
    await page.setInputFiles('#files', { name, mimeType: 'image/png', buffer: sample.png });
    await page.locator('#sent li.done').waitFor();
    expect(await page.locator('#sent strong').textContent()).toBe(name);
    expect(await page.locator('#sent img').count()).toBe(0);
    expect(alerts).toEqual([]);
  });
});

test('the page runs its own script, calls its own host, and cannot be framed', async () => {
  const owner = await material.owner();
  const link = await material.link(owner, owner.siteId);
  const answer = await fetch(link.address);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'sha256-[^']+'(;|$)/);
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(answer.headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test.each([
  ['of an unknown link', 'fru_unknown', 404, 'We can’t find this upload link'],
  ['of a malformed link', '%3Cscript%3E', 404, 'We can’t find this upload link'],
])('the page %s is not found', async (_what, secret, status, title) => {
  const answer = await fetch(`${material.url}/u/${secret}`);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(`<h1>${title}</h1>`);
});

test('a form that is truncated or malformed is refused and leaves nothing', async () => {
  const owner = await material.owner();
  const link = await material.link(owner, owner.siteId);
  const before = await material.objects(owner.siteId);
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n';
  for (const body of [head, `${head}half of it`, 'no form at all', '']) {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await fetch(link.address, { method: 'POST', headers, body });
    expect([body, answer.status]).toEqual([body, 400]);
  }
  const headers = { 'content-type': 'multipart/form-data' };
  const none = await fetch(link.address, { method: 'POST', headers, body: 'x' });
  expect(none.status).toBe(400);
  expect(await material.objects(owner.siteId)).toEqual(before);
});
