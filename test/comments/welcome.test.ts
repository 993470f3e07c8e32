/** The overlay for a reader who opens their first review link: welcome, count, name. */
import { expect, test, vi } from 'vitest';
import { violationsOf } from '#test/web/axe.ts';
import { showDraft } from './drafts.ts';
import {
  bakery,
  desk,
  frameOf,
  openReview,
  phone,
  pointAt,
  pressUntil,
  send,
  soon,
  startComment,
  useReviews,
} from './review-fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const fixture = await useReviews();

test('a begun reply stays in its thread, and a discarded comment is gone', { tags: 'chromium' }, async () => {
  const site = await fixture.newSite();
  for (const words of ['Shall the heading stay?', 'Is it the right photo?'])
    await site.open(words, { position: { selector: 'h1' } });
  const context = await fixture.newContext(desk);
  const review = await openReview(context, await site.link());
  const { page, frame } = review;
  const [heading, photo] = [frame.locator('#threads').getByText('Shall'), frame.locator('#threads').getByText('photo')];
  const [reply, words] = [frame.getByLabel('Your reply'), frame.getByLabel('What should change here?')];
  const back = () => pressUntil(frame.getByRole('button', { name: '← All' }), heading);
  await pressUntil(frame.getByRole('button', { name: 'Show comments' }), heading);
  await pressUntil(heading, reply);
  await reply.fill('Not sent yet');
  await back();
  await pressUntil(photo, reply);
  expect(await reply.inputValue()).toBe('');
  await back();
  await pressUntil(heading, reply);
  expect(await reply.inputValue()).toBe('Not sent yet');
  await back();
  await startComment(review);
  await pointAt(page, 'h1');
  await words.fill('Smaller.');
  await pressUntil(frame.getByRole('button', { name: 'Discard' }), heading);
  await startComment(review);
  await pointAt(page, 'h1');
  await words.waitFor();
  expect(await words.inputValue()).toBe('');
  await context.close();
});

type Opened = Awaited<ReturnType<typeof openReview>>;

/** What axe finds in the overlay's window. Its colours and names are the same on a phone and on a desk. */
async function violationsIn({ page }: Opened) {
  const frame = page.frames().find((one) => one.url().includes('/review/frame/'));
  return frame ? await violationsOf(page, frame) : ['there is no frame'];
}

test.each([
  ['a phone', phone, 'tap'],
  ['a desk', desk, 'click'],
] as const)('a reader is welcomed and asked for a name once on %s', { tags: 'chromium' }, async (_on, size, act) => {
  const site = await fixture.newSite({ 'index.html': bakery(), 'about.html': bakery({ heading: 'About us' }) });
  const { body: open } = await site.open('Is this the right <i>photo</i>?', { position: { selector: 'h1' } });
  const context = await fixture.newContext(size);
  const review = await openReview(context, await site.link());
  const { page, frame } = review;
  await frame.getByText('You are reviewing Bakery. 1 comment is open.').waitFor();
  if (size === phone) expect(await violationsIn(review)).toEqual([]);

  // To the comments first, which the pop-up unlocks.
  const shown = frame.getByText('Is this the right <i>photo</i>?');
  await pressUntil(frame.getByRole('button', { name: 'Show comments' }), shown, act);
  if (size === phone) expect(await violationsIn(review)).toEqual([]);
  await startComment(review, act);
  await pointAt(page, 'h1');
  await frame.getByLabel('What should change here?').fill('Larger.');
  await frame.getByLabel('Your name').fill('ann@bakery.example');
  const refused = frame.getByText('Enter a name of at most 60 characters');
  await pressUntil(frame.getByRole('button', { name: 'Send' }), refused, act);
  if (size === phone) expect(await violationsIn(review)).toEqual([]);
  await frame.getByLabel('Your name').fill('Ann <img src=x onerror=alert(1)>');
  await send(review, 'Larger.', act);
  await frame.getByText(/^Ann <img src=x onerror=alert\(1\)> · \w/).waitFor();
  expect(await frame.getByLabel('Your name').isVisible()).toBe(false);
  await frame.getByLabel('Your reply').fill('Or not?');
  await pressUntil(frame.getByRole('button', { name: 'Reply' }), frame.locator('#messages').getByText('Or not?'), act);
  if (size === phone) expect(await violationsIn(review)).toEqual([]);

  // On another page the welcome is over, and the name is known.
  await page.goto(`${site.address}/about`);
  await frame.getByText('2 open').waitFor();
  expect(await frame.getByText('You are reviewing').isVisible()).toBe(false);
  const rename = frame.getByRole('button', { name: /^Commenting as Ann / });
  await pressUntil(frame.getByText('2 open'), rename, act);
  await pressUntil(rename, frame.getByLabel('Your name'), act);
  await frame.getByLabel('Your name').fill('Bo');
  await frame.getByLabel('Your name').press('Enter');
  await frame.getByRole('button', { name: 'Commenting as Bo' }).waitFor();
  const { items } = (await site.list()).body;
  const names = items.flatMap(({ messages }: { messages: { author_name: string }[] }) =>
    messages.map((m) => m.author_name),
  );
  const [token] = (await site.call('GET', '/v1/tokens')).body.items;
  const typed = 'Ann <img src=x onerror=alert(1)>';
  expect(names).toEqual([typed, typed, token.name]);
  expect(review.faults).toEqual([]);
  expect(open.id).toBe(items[1].id);
  await context.close();
});

test('with the keyboard alone a reader minimises the welcome, and later exits', { tags: 'chromium' }, async () => {
  const site = await fixture.newSite();
  const context = await fixture.newContext(desk);
  const { page, frame } = await openReview(context, await site.link());
  await frame.getByText('No comments are open.').waitFor();
  expect(await frame.getByRole('button', { name: 'Show comments' }).isVisible()).toBe(false);
  await frame.getByRole('button', { name: 'Minimise' }).press('Enter');
  await soon(() => page.locator('frontage-overlay >> iframe').getAttribute('class')).toBe('pill');
  expect(await frame.getByText('No comments are open.').isVisible()).toBe(false);
  await startComment({ frame });
  await frame.getByRole('button', { name: 'Cancel' }).press('Enter');
  await frame.getByRole('button', { name: 'Exit review' }).press('Enter');
  await soon(() => page.locator('frontage-overlay').count()).toBe(0);
  await context.close();
});

test('a reviewer comments on a page that forbids scripts, styles and frames', { tags: 'chromium' }, async () => {
  const policy = "default-src 'none'; script-src 'none'; style-src 'none'; frame-src 'none'; sandbox";
  const _headers = `/*\n  content-security-policy: ${policy}\n  cross-origin-embedder-policy: require-corp\n`;
  const site = await fixture.newSite({ 'index.html': bakery(), _headers });
  expect((await fixture.visit(site.site.name, '/')).headers['content-security-policy']).toBe(policy);
  const context = await fixture.newContext(desk);
  const review = await openReview(context, await site.link());
  // The page's policy forbids the picture, and the comment does not wait for it.
  await startComment(review);
  await pointAt(review.page, 'h1');
  await review.frame.getByLabel('What should change here?').fill('Bigger.');
  await send(review, 'Bigger.');
  await soon(async () => (await site.list()).body.items.length).toBe(1);
  expect(await frameOf(review.page).locator('body').evaluate('innerHeight')).toBeGreaterThan(50);
  await context.close();
});

test('a reader of a draft’s link is welcomed to it, and comments on it', { tags: 'chromium' }, async () => {
  const site = await fixture.newSite();
  const place = { siteId: site.site.id, accountId: site.accountId, slot: 2 };
  const { label, deploymentId } = await showDraft(fixture, place, bakery({ heading: 'Bread on Sundays' }));
  await soon(async () => (await fixture.visit(label, '/')).text).toContain('Bread on Sundays');
  const context = await fixture.newContext(desk);
  const review = await openReview(context, (await site.review({ slot: 2 })).body.url);
  await review.frame.getByText('You are reviewing a draft of Bakery. No comments are open.').waitFor();
  expect(new URL(review.page.url()).hostname).toBe(`${label}.sites.localhost`);
  expect(await violationsIn(review)).toEqual([]);
  await startComment(review);
  await pointAt(review.page, 'h1');
  await review.frame.getByLabel('What should change here?').fill('And on Mondays?');
  await send(review, 'And on Mondays?');
  const [thread] = (await site.list()).body.items;
  expect(thread).toMatchObject({ deployment_id: deploymentId, position: { quote: 'Bread on Sundays' } });
  await context.close();
});

test('an ended link says so, and gives way to the newest link’s key', { tags: 'chromium' }, async () => {
  const site = await fixture.newSite();
  const { body: first } = await site.review();
  const context = await fixture.newContext(desk);
  const { page, frame } = await openReview(context, first.url);
  await startComment({ frame });
  await frame.getByRole('button', { name: 'Cancel' }).click();
  await site.call('DELETE', `/v1/review-links/${first.id}`);
  await site.open('Is this right?');

  // The page says so in place of the control, on each page, and leaves the keyboard focus alone.
  const ended = frame.getByRole('button', { name: 'Review ended' });
  for (let loads = 0; loads < 2; loads++) {
    await page.reload();
    await ended.waitFor();
    expect(await frame.getByRole('button', { name: 'Add comment' }).count()).toBe(0);
    expect(await frame.locator('#fault').isVisible()).toBe(false);
  }
  await ended.press('Enter');
  await frame.getByText('ask the person who sent the link for a new one').waitFor();
  expect(await violationsIn({ page, frame, faults: [] })).toEqual([]);
  await frame.getByRole('button', { name: 'Minimise' }).press('Enter');
  await ended.waitFor();

  // A browser without the key learns it from the popup.
  const cookie = `__Host-frontage_frame_${site.site.public_id}=; Path=/; Secure; SameSite=None; Partitioned; Max-Age=0`;
  await frame.locator('body').evaluate(`localStorage.clear(); document.cookie = '${cookie}'`);
  await page.reload();
  const start = frame.getByRole('button', { name: 'Add comment', exact: true });
  const [popup] = await Promise.all([context.waitForEvent('page'), start.press('Enter')]);
  await popup.getByRole('heading', { name: 'This link has expired' }).waitFor();
  await frame.getByRole('heading', { name: 'This review has ended' }).waitFor();
  await popup.close();

  // A newer link gives its own key to a browser that still has the old one.
  const stale = `localStorage.setItem('frontage-review:${site.site.public_id}', '${first.url.split('/').at(-1)}')`;
  await frame.locator('body').evaluate(stale);
  await page.close();
  const next = await openReview(context, await site.link());
  await next.frame.getByText('You are reviewing Bakery. 1 comment is open.').waitFor();
  expect(await next.frame.locator('#fault').isVisible()).toBe(false);
  const shown = next.frame.getByText('Is this right?');
  await pressUntil(next.frame.getByRole('button', { name: 'Show comments' }), shown);
  await context.close();
});
