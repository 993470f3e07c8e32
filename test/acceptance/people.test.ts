/**
 * @module-tag chromium
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useStack } from '#test/stack/stack.ts';
import { launchChromium } from '#test/web/chromium.ts';

const stack = useStack();
let chrome: Browser;
beforeAll(async () => {
  chrome = await launchChromium();
});
afterAll(() => chrome.close());

/** What came to the address over SMTP, newest first, once there are `count`. */
async function mailsTo(address: string, count: number) {
  let items: { subject: string; text: string; html: string }[] = [];
  await expect
    .poll(
      async () => {
        const answer = await fetch(`${stack.mailUrl}/messages?to=${encodeURIComponent(address)}`);
        ({ items } = (await answer.json()) as { items: typeof items });
        return items.length;
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(count);
  return items;
}

const linkIn = ({ text }: { text: string } = { text: '' }) => /https?:\/\/\S+/.exec(text)?.[0] ?? '';
const ask = (path: string, body: unknown, token: string | null = null) => stack.api(path, { body, token });

/** A page that fails the test where its policy had to stop something. */
async function openPage(): Promise<Page> {
  const page = await (await chrome.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text()) && !/favicon/.test(message.text()))
      throw new Error(message.text());
  });
  return page;
}

test('once the owner enters its code, an agent gets the token it requested', async () => {
  const email = `baker-${process.pid}@example.com`;
  const { body: asked } = await ask('/v1/auth/requests', {
    email,
    agent_name: 'Site builder',
    account_name: 'The bakery',
  });
  const redeem = async () => await ask(`/v1/auth/requests/${asked.id}/redeem`, { secret: asked.secret });
  expect((await redeem()).body.status).toBe('pending');
  const [mail] = await mailsTo(email, 1);
  const page = await openPage();
  await page.goto(linkIn(mail));
  expect(await page.textContent('h1')).toContain('Site builder');
  expect(`${mail?.text}${mail?.html}${await page.content()}`).not.toContain(asked.user_code);
  await page.fill('input[name=code]', 'bcdfghjk');
  await page.click('text=Give access');
  expect(await page.textContent('[role=alert]')).toContain('you have 4 attempts left');
  await page.fill('input[name=code]', asked.user_code.toLowerCase());
  await page.click('text=Give access');
  expect(await page.textContent('h1')).toBe('Access granted');
  const { body: redeemed } = await redeem();
  expect(redeemed.status).toBe('approved');
  const account = await stack.api('/v1/account', { token: redeemed.access_token });
  expect(account.body).toMatchObject({ name: 'The bakery', email, capabilities: { email_signin: true } });
  expect((await redeem()).body.error.code).toBe('already_redeemed');
  await page.context().close();
});

test('an owner signs in by e-mail, sees their data, revokes tokens and signs out', async () => {
  const owner = await stack.openOwner();
  await ask('/v1/sites', { name: `shop-${process.pid}`, title: 'The corner shop' }, owner.token);
  const page = await openPage();
  await page.goto(`${stack.baseUrl}/account`);
  expect(page.url()).toBe(`${stack.baseUrl}/signin`);
  await page.fill('input[name=email]', owner.email);
  await page.click('text=Send me a link');
  expect(await page.textContent('h1')).toBe('Check your e-mail');
  const [mail] = await mailsTo(owner.email, 1);
  await page.goto(linkIn(mail));
  await page.click('button:has-text("Sign in")');
  expect(page.url()).toBe(`${stack.baseUrl}/account`);
  expect(await page.textContent('main')).toContain('The corner shop');
  expect((await stack.api('/v1/account', { token: owner.token })).status).toBe(200);
  await page.goto(`${stack.baseUrl}/account/agents`);
  await page.click('main a:has-text("Revoke")');
  await page.click('button:has-text("Revoke its access")');
  expect((await stack.api('/v1/account', { token: owner.token })).status).toBe(401);
  await page.click('summary');
  await page.click('text=Sign out');
  await page.goto(`${stack.baseUrl}/account`);
  expect(page.url()).toBe(`${stack.baseUrl}/signin`);
  await page.context().close();
});

test('every page works without scripts and fits a phone', async () => {
  const owner = await stack.openOwner();
  const context = await chrome.newContext({ viewport: { width: 320, height: 700 }, javaScriptEnabled: true });
  const page = await context.newPage();
  await ask('/v1/auth/requests', { email: owner.email, agent_name: `Agent ${'x'.repeat(50)}` });
  const [request] = await mailsTo(owner.email, 1);
  await page.goto(`${stack.baseUrl}/signin`);
  const widths = async () => await page.evaluate('document.documentElement.scrollWidth');
  expect(await widths()).toBe(320);
  await page.fill('input[name=email]', owner.email);
  await page.click('text=Send me a link');
  expect(await widths()).toBe(320);
  const [mail] = await mailsTo(owner.email, 2);
  await page.goto(linkIn(mail));
  expect(await widths()).toBe(320);
  await page.click('button:has-text("Sign in")');
  expect([await widths(), await page.locator('script').count()]).toEqual([320, 0]);
  await page.goto(linkIn(request));
  expect([await widths(), await page.locator('script').count()]).toEqual([320, 0]);
  await context.close();
});
