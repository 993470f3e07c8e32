/** The platform and its visitors' side on hosts of their own in a real browser, with a site that is commented on. */
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { createFixture, createSite } from '#test/output/fixture.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { commentsOf } from './fixture.ts';

const env = {
  FRONTAGE_BASE_URL: 'http://platform.localhost',
  FRONTAGE_EDGE_URL: 'http://sites.localhost',
  FRONTAGE_BASE_DOMAIN: 'sites.localhost',
};

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const desk: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };

export async function createReviewFixture() {
  const fixture = await createFixture(env);
  const hosts = `MAP platform.localhost 127.0.0.1:${new URL(fixture.url).port}, MAP *.sites.localhost 127.0.0.1:${fixture.port}`;
  const browser = await launchChromium({ hosts });

  /** An owner whose site has these pages live, and the calls of his agent. */
  async function newSite(files: Record<string, string> = { 'index.html': bakery() }) {
    const owner = await fixture.newCaller();
    const site = await createSite(owner, { title: 'Bakery' });
    const publish = (next: Record<string, string>) => fixture.publish(site.id, owner.accountId, next);
    await publish(files);
    await served(site.name, files['index.html'] ?? '');
    return {
      ...owner,
      site,
      ...commentsOf(owner, site.id),
      /** Makes other pages live, and waits until visitors have them. */
      async rebuild(next: Record<string, string>) {
        await publish(next);
        await served(site.name, next['index.html'] ?? '');
      },
      address: `http://${site.name}.sites.localhost`,
      link: async (): Promise<string> =>
        (await owner.call('POST', `/v1/sites/${site.id}/review-links`, { body: {} })).body.url,
    };
  }

  async function served(name: string, page: string): Promise<void> {
    for (let tries = 0; (await fixture.visit(name, '/')).text !== page; tries++) {
      if (tries > 200) throw new Error('the edge does not serve the page');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async function newContext(options: BrowserContextOptions = desk): Promise<BrowserContext> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(25_000);
    return context;
  }

  return {
    ...fixture,
    newSite,
    newContext,
    async close() {
      await browser.close();
      await fixture.close();
    },
  };
}

/** A fixture that closes after the file's tests, or none where Chromium is missing: tests with its tag are skipped. */
export async function useReviews(): Promise<ReviewFixture> {
  const fixture = (await pathOf('chromium')) ? await createReviewFixture() : undefined;
  afterAll(() => fixture?.close());
  return fixture as ReviewFixture;
}
export type ReviewFixture = Awaited<ReturnType<typeof createReviewFixture>>;
export type ReviewSite = Awaited<ReturnType<ReviewFixture['newSite']>>;

/** A page as a site has it. */
export function bakery({
  heading = '',
  before = '',
  script = '',
}: {
  heading?: string;
  before?: string;
  script?: string;
} = {}) {
  const paragraphs = Array.from(
    { length: 12 },
    (_, n) => `<p>Loaf number ${n + 1} is baked at dawn, and gone by noon.</p>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Bakery</title>
<style>body{margin:0;font:18px/1.6 Georgia,serif;color:#333;background:#fdf8f0}main{max-width:40rem;margin:0 auto;padding:2rem}
h1,h2{line-height:1.2}header{padding:1rem 2rem;background:#5b3a1e;color:#fff}button{all:unset}div{color:red}iframe{display:none!important}</style></head>
<body><header>Bakery at the Harbour</header><main>${before}<h1>${heading || 'Fresh bread every morning'}</h1>
<p>We bake with flour from the valley.</p><h2>What we bake</h2>${paragraphs.join('\n')}
<h2>Where to find us</h2><p>Harbour Street 1.</p><img alt="Our shop" width="300" height="120" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='120'%3E%3Crect width='300' height='120' fill='%23c96'/%3E%3C/svg%3E"></main>
${script ? `<script>${script}</script>` : ''}</body></html>
`;
}

/** The overlay's window in the page. */
export const frameOf = (page: Page) => page.frameLocator('frontage-overlay >> iframe');

/** Opens a review link as its reader does. Answers the page of the site with the overlay in it. */
export async function openReview(context: BrowserContext, link: string) {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(link);
  const frame = frameOf(page);
  await frame.getByRole('button', { name: 'Add comment', exact: true }).waitFor();
  return { page, frame, faults };
}
export type Review = Awaited<ReturnType<typeof openReview>>;

/**
 * Presses until there is what a press leads to. Chromium passes over one on a frame of another origin that stands where it is for less
 * than half a second; a person presses again, and so does this.
 */
export async function pressUntil(button: Locator, sign: Locator, act: 'click' | 'tap' = 'click') {
  const isShown = () =>
    sign.waitFor({ timeout: 1_500 }).then(
      () => true,
      () => false,
    );
  // One that was taken may have put the button away.
  do await button[act]({ timeout: 3_000 }).catch(() => {});
  while (!(await isShown()));
}

/** Presses until the button has led to another page, for the same reason. */
export async function pressAway(button: Locator) {
  const loaded = button.page().waitForEvent('load');
  await expect
    .poll(async () => {
      await button.click({ timeout: 3_000 }).catch(() => {});
      return await button.count();
    })
    .toBe(0);
  await loaded;
}

/** As far as a place is to be chosen. */
export async function startComment({ frame }: Pick<Review, 'frame'>, act: 'click' | 'tap' = 'click') {
  const button = frame.getByRole('button', { name: 'Add comment', exact: true });
  await pressUntil(button, frame.getByText('Choose a place on the page.'), act);
}

/** Sends what was typed. */
export async function send({ frame }: Pick<Review, 'frame'>, words: string, act: 'click' | 'tap' = 'click') {
  const button = frame.getByRole('button', { name: 'Send' });
  await takesPress({ frame }, 'send');
  await pressUntil(button, frame.locator('#messages').getByText(words), act);
}

/** Once the button takes a press: what stood there before was for another one, and the window can be seen. */
export async function takesPress({ frame }: Pick<Review, 'frame'>, id: string) {
  await frame.locator(`body:not([data-covered=true]) #${id}:not([aria-disabled=true])`).waitFor();
}

/** Says something about what stands at a place that `choose` points at. */
export async function comment({ frame }: Pick<Review, 'frame'>, words: string, choose: () => Promise<unknown>) {
  await startComment({ frame });
  await choose();
  await frame.getByLabel('What should change here?').fill(words);
  await frame.getByText('This screenshot will be sent with your comment.').waitFor();
  await send({ frame }, words);
}

/** Points at an element with the mouse, whatever lies above it. */
export async function pointAt(page: Page, selector: string) {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} is not to be seen`);
  await page.mouse.move(box.x + 20, box.y + box.height / 2);
  await page.mouse.click(box.x + 20, box.y + box.height / 2);
}

/** What comes true in a browser that shares its machine. */
export const soon = (read: () => unknown) => expect.poll(read, { timeout: 15_000 });
