/** Chromium at the widths and in the colour schemes in which people see pages. `FRONTAGE_PICTURES=<folder>` keeps pictures. */
import { join } from 'node:path';
import type { BrowserContextOptions, Page, Response } from 'playwright-core';
import { expect } from 'vitest';
import { violationsOf } from './axe.ts';
import { launchChromium } from './chromium.ts';

const pictures = process.env.FRONTAGE_PICTURES;

/** What each test of a page runs with: `test.each(looks)`. Each shows both colour schemes in the same page. */
export const looks: Look[] = [{ width: 390 }, { width: 1280 }];
const schemes = ['dark', 'light'] as const;
/** Of a page without its pictures, in bytes. */
const weightMax = 150_000;
/** Sources of pictures that are loaded before they are seen. */
const eagerPictures = `[...document.images].filter(({ loading }) => loading !== 'lazy').map(({ src }) => src)`;

/** A page opens in the light scheme unless the look names another. */
export type Look = { width: number; colorScheme?: 'light' | 'dark' };
export type Chrome = Awaited<ReturnType<typeof openChrome>>;

/** `hosts`: as `launchChromium` takes them. */
export async function openChrome(hosts?: string) {
  const browser = await launchChromium({ hosts });
  return {
    /** A page in a browser of its own. */
    async newPage({ width, colorScheme = 'light' }: Look, options: BrowserContextOptions = {}): Promise<Page> {
      const viewport = { width, height: 900 };
      return await (await browser.newContext({ viewport, colorScheme, ...options })).newPage();
    },
    close: () => browser.close(),
  };
}

/** Keeps pictures in the look's scheme or in both, and finds nothing wider than the window. */
export async function look(page: Page, name: string, { width, colorScheme }: Look): Promise<void> {
  if (pictures) {
    for (const scheme of colorScheme ? [colorScheme] : schemes) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`), fullPage: true });
    }
  }
  expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
}

/**
 * `look`, and finds no violation of axe-core's rules in both schemes and in forced colours, which replace the scheme. The page is light, and its
 * pictures are lazy.
 */
export async function inspect(page: Page, name: string, shown: Look): Promise<void> {
  for (const forcedColors of ['active', 'none'] as const) {
    for (const colorScheme of forcedColors === 'active' ? (['light'] as const) : schemes) {
      await page.emulateMedia({ colorScheme, forcedColors });
      const way = [name, colorScheme, forcedColors];
      expect([...way, ...(await violationsOf(page, page, true))]).toEqual(way);
      await look(page, forcedColors === 'none' ? name : `${name}-forced`, { ...shown, colorScheme });
    }
  }
  const isLight = (await page.content()).length < weightMax;
  expect([name, isLight, await page.evaluate(eagerPictures)]).toEqual([name, true, []]);
}

/** How much of the page has moved since it was opened (web.dev/cls). */
export const movement = `new Promise((done) => new PerformanceObserver((list) =>
  done(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(() => done(0), 200))`;

/** Opens a page, and expects that it is light without its pictures, and that nothing moves while it loads. */
export async function openLight(page: Page, href: string): Promise<number | undefined> {
  let weight = 0;
  const weigh = async (response: Response) => {
    if (response.request().resourceType() !== 'image') weight += (await response.body().catch(() => '')).length;
  };
  page.on('response', weigh);
  const opened = await page.goto(href, { waitUntil: 'load' });
  const moved = await page.evaluate<number>(movement);
  page.removeListener('response', weigh);
  expect([href, moved < 0.02, weight > 0 && weight < weightMax]).toEqual([href, true, true]);
  return opened?.status();
}
