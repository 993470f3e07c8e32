/** The overlay on a site that sets policies of its own. */
import { expect, test, vi } from 'vitest';
import { bakery, desk, frameOf, openReview, pointAt, send, soon, startComment, useReviews } from './review-fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const fixture = await useReviews();

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
