/** The overlay in a real browser: an owner with a mouse, a finger, or a keyboard alone. */
import type { Locator } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { structureFault } from '#git/rules/structure.ts';
import {
  bakery,
  comment,
  desk,
  openReview,
  phone,
  pointAt,
  pressAway,
  pressUntil,
  type ReviewSite,
  send,
  soon,
  startComment,
  takesPress,
  useReviews,
} from './review-fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const fixture = await useReviews();

const threads = async (site: ReviewSite) => (await site.list()).body.items;

/** Reads the picture of a thread as an agent does. */
async function pictureOf(site: ReviewSite, id: string) {
  const answer = await fetch(`${fixture.url}/v1/comments/${id}/screenshot`, {
    headers: { authorization: `Bearer ${site.token}` },
  });
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe('the owner', { tags: 'chromium' }, () => {
  test('comments on a heading; the agent’s inbox has the thread with its picture', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(desk);
    const review = await openReview(context, await site.link());
    const inbox = site.call('GET', '/v1/inbox?wait=50');
    await comment(review, 'Larger, please.', () => pointAt(review.page, 'h1'));
    const sent = performance.now();
    const { body: news } = await inbox;
    // Who is not told hears of it after the 50 s that were asked for.
    expect(performance.now() - sent).toBeLessThan(25_000);
    const [thread] = await threads(site);
    expect(news.items).toMatchObject([{ kind: 'open_comment', id: thread.id, message: 'Larger, please.' }]);
    expect(thread).toMatchObject({
      status: 'open',
      page: '/',
      position: { selector: 'body > main > h1', quote: 'Fresh bread every morning', viewport: desk.viewport },
      messages: [{ author_kind: 'owner', body: 'Larger, please.' }],
      deployment_id: expect.stringMatching(/^dep_/),
    });
    const { type, bytes } = await pictureOf(site, thread.id);
    expect(type).toBe('image/jpeg');
    expect(bytes.length).toBeGreaterThan(10_000);
    expect(
      await structureFault(
        'jpg',
        (async function* () {
          yield bytes;
        })(),
      ),
    ).toBeUndefined();
    expect(await colours(review.page, bytes)).toEqual({ top: 'brown', middle: 'cream' });
    expect(review.faults).toEqual([]);
    await context.close();
  });

  test('sees the agent’s reply, replies, and resolves', async () => {
    const site = await fixture.newSite();
    const { body: thread } = await site.open('Shall the heading stay?', { position: { selector: 'h1' } });
    const context = await fixture.newContext({ ...desk, timezoneId: 'Asia/Kolkata', locale: 'en-GB' });
    const { page, frame } = await openReview(context, await site.link());
    await unlock(page, frame);
    await pressUntil(frame.getByRole('button', { name: 'Cancel' }), frame.getByText('Shall the heading stay?'));
    await pressUntil(frame.getByText('Shall the heading stay?'), frame.getByLabel('Your reply'));
    const written = await frame.getByText('· agent ·').textContent();
    expect(written).toMatch(/ · agent · \d+ \w+ \d{4}, \d\d:\d\d GMT\+5:30$/);
    await frame.getByLabel('Your reply').fill('Yes, it is good.');
    await frame.getByRole('button', { name: 'Reply' }).click();
    await frame.locator('#messages').getByText('Yes, it is good.').waitFor();
    await frame.getByRole('button', { name: 'Resolve' }).click();
    await frame.getByRole('button', { name: 'Reopen' }).waitFor();
    await frame.getByText(/✓ Resolved · /).waitFor();
    expect(await threads(site)).toMatchObject([{ id: thread.id, status: 'resolved' }]);
    await soon(() => page.locator('.pin').count()).toBe(0);
    await frame.getByRole('button', { name: 'Reopen' }).click();
    await page.locator('.pin').waitFor();
    await frame.getByText(/✓ Resolved · /).waitFor({ state: 'hidden' });
    expect((await threads(site))[0].messages.map(({ author_kind }: { author_kind: string }) => author_kind)).toEqual([
      'agent',
      'owner',
    ]);
    await context.close();
  });

  test('comments by touch on a phone, and everything fits the screen', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(phone);
    const review = await openReview(context, await site.link());
    const { page, frame } = review;
    await startComment(review, 'tap');
    const box = await page.locator('h2').first().boundingBox();
    await page.touchscreen.tap((box?.x ?? 0) + 30, (box?.y ?? 0) + 10);
    await frame.getByLabel('What should change here?').fill('Ordered by size?');
    await frame.getByText('This screenshot will be sent with your comment.').waitFor();
    const window = await page.locator('frontage-overlay >> iframe').boundingBox();
    expect(window).toMatchObject({ x: 0, width: 390 });
    expect((window?.y ?? 0) + (window?.height ?? 0)).toBeLessThanOrEqual(844);
    const buttons = await frame.locator('button:visible').all();
    expect(buttons.length).toBeGreaterThan(1);
    for (const button of buttons) {
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
    await send(review, 'Ordered by size?', 'tap');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect((await threads(site))[0].position).toMatchObject({ quote: 'What we bake', viewport: phone.viewport });
    await context.close();
  });

  test('comments with the keyboard alone', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(desk);
    const { page, frame } = await openReview(context, await site.link());
    const start = frame.getByRole('button', { name: 'Add comment', exact: true });
    for (let presses = 0; presses < 10 && !(await hasFocus(start)); presses++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await frame.getByText('Choose a place on the page.').waitFor();
    await soon(() => hasFocus(page.locator('frontage-overlay >> .layer'))).toBe(true);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    const field = frame.getByLabel('What should change here?');
    await soon(() => hasFocus(field)).toBe(true);
    await page.keyboard.type('Which valley?');
    await soon(() => frame.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
    await frame.getByText('This screenshot will be sent with your comment.').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await frame.locator('#messages').getByText('Which valley?').waitFor();
    expect((await threads(site))[0].position.quote).toBe('We bake with flour from the valley.');
    await context.close();
  });

  test('continues after a reload and on other pages until the review ends', async () => {
    const site = await fixture.newSite({ 'index.html': bakery(), 'about.html': bakery({ heading: 'About us' }) });
    const context = await fixture.newContext(desk);
    const review = await openReview(context, await site.link());
    await comment(review, 'Here', () => pointAt(review.page, 'h1'));
    await review.page.goto(`${site.address}/about`);
    await comment(review, 'There', () => pointAt(review.page, 'h1'));
    expect((await threads(site)).map(({ page }: { page: string }) => page)).toEqual(['/about', '/']);
    await review.frame.getByRole('button', { name: '← All' }).click();
    await review.frame.getByText('On other pages').waitFor();
    await review.frame.getByText('Here', { exact: true }).click();
    await review.frame.getByRole('button', { name: 'Go to that page' }).click();
    await review.page.waitForURL(`${site.address}/`);
    const exit = review.frame.getByRole('button', { name: 'Exit review' });
    await pressUntil(review.frame.getByText('2 open'), exit);
    await pressAway(exit);
    expect(await (await review.page.reload())?.text()).toBe(bakery());
    await context.close();
  });

  test('comments without a picture if the page cannot be drawn, with the reason', async () => {
    const script = 'HTMLCanvasElement.prototype.toBlob = () => { throw new Error("no") }';
    const site = await fixture.newSite({ 'index.html': bakery({ script }) });
    const context = await fixture.newContext(desk);
    const { page, frame } = await openReview(context, await site.link());
    await startComment({ frame });
    await pointAt(page, 'h1');
    await frame.getByText('No screenshot: this page could not be captured.').waitFor();
    await frame.getByLabel('What should change here?').fill('All the same.');
    await send({ frame }, 'All the same.');
    expect((await threads(site))[0].screenshot).toEqual({ missing: 'The browser could not capture the page.' });
    await context.close();
  });

  test('keeps the input when the connection breaks, and sends it once', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(desk);
    const { page, frame } = await openReview(context, await site.link());
    await startComment({ frame });
    await pointAt(page, 'h1');
    await frame.getByLabel('What should change here?').fill('Through the storm');
    await frame.getByText('This screenshot will be sent with your comment.').waitFor();
    await context.setOffline(true);
    const button = frame.getByRole('button', { name: 'Send' });
    await takesPress({ frame }, 'send');
    await button.press('Enter');
    await frame.getByText('The connection was lost.').waitFor();
    // The keyboard stays where it is: a button that took it away would leave the next press to the one that discards.
    expect(await hasFocus(button)).toBe(true);
    await context.setOffline(false);
    await page.keyboard.press('Enter');
    await frame.locator('#messages').getByText('Through the storm').waitFor();
    expect(await threads(site)).toHaveLength(1);
    await context.close();
  });

  test('sees when the link has expired, and writes nothing with it', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(desk);
    const review = await openReview(context, await site.link());
    await comment(review, 'Before', () => pointAt(review.page, 'h1'));
    const [link] = (await site.call('GET', `/v1/sites/${site.site.id}/review-links`)).body.items;
    await site.call('DELETE', `/v1/review-links/${link.id}`);
    await review.frame.getByLabel('Your reply').fill('After');
    await review.frame.getByRole('button', { name: 'Reply' }).click();
    await review.frame.getByText('This review link was closed.').waitFor();
    expect((await threads(site))[0].messages).toHaveLength(1);
    await context.close();
  });
});

/** The key arrives with the first press of a button. */
async function unlock(
  page: Awaited<ReturnType<typeof openReview>>['page'],
  frame: Awaited<ReturnType<typeof openReview>>['frame'],
) {
  await startComment({ frame });
  await page.locator('frontage-overlay').waitFor({ state: 'attached' });
}

/** What a picture shows at its top and in its middle, as the browser sees it. */
async function colours(page: Awaited<ReturnType<typeof openReview>>['page'], bytes: Buffer): Promise<unknown> {
  return await page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/jpeg;base64,${bytes.toString('base64')}';
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const name = ([red, green, blue]) =>
      red > 240 && green > 240 && blue > 220 ? 'cream' : red < 110 && green < 80 && blue < 60 ? 'brown' : [red, green, blue].join();
    const at = (x, y) => name(pen.getImageData(x, y, 1, 1).data);
    return { top: at(image.width - 40, 20), middle: at(20, image.height / 2) };
  })()`);
}

async function hasFocus(at: Locator): Promise<boolean> {
  return await at.evaluate((one) => {
    const element = one as unknown as { getRootNode(): { activeElement: unknown } };
    return element.getRootNode().activeElement === element;
  });
}
