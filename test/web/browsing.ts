/** Chromium, and pages on a site's own origin in it. `FRONTAGE_PICTURES=<folder>` keeps pictures. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Fixture } from '#test/api/fixture.ts';
import { launchChromium } from './chromium.ts';

const pictures = process.env.FRONTAGE_PICTURES;

export type Look = {
  theme?: 'light' | 'dark';
  width?: number;
  lang?: string;
  /** The system's time zone. */
  zone?: string;
  scripts?: boolean;
};
export type Browsing = Awaited<ReturnType<typeof openBrowsing>>;

/** Stands in for the edge at `edgeUrl`: what is shown there is what a page of that site does. */
export async function openBrowsing() {
  const pages = new Map<string, string>();
  const sites = createServer((request, response) => {
    const page = pages.get(request.headers.host?.split('.')[0] ?? '');
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((ready) => sites.listen(0, '127.0.0.1', ready));
  const { port } = sites.address() as AddressInfo;
  const browser = await launchChromium();

  async function newPage({ theme = 'light', width = 390, scripts = true, zone }: Look): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: theme,
      javaScriptEnabled: scripts,
      timezoneId: zone ?? 'Europe/Berlin',
      locale: 'en-GB',
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => {
      throw error;
    });
    return page;
  }

  return {
    edgeUrl: `http://localhost:${port}`,
    newPage,
    /** A page of the site with this inside. */
    async open(name: string, inside: string, look: Look = {}): Promise<Page> {
      pages.set(name, shell(inside, look.lang ?? 'en'));
      const page = await newPage(look);
      await page.goto(`http://${name}.sites.localhost:${port}/`);
      return page;
    },
    /** A page of the platform, at its configured address. */
    async visit({ config: { baseUrl }, url }: Pick<Fixture, 'config' | 'url'>, path: string, look: Look = {}) {
      const page = await newPage(look);
      await page.route(`${baseUrl}/**`, async (route) => {
        const target = route.request().url().replace(baseUrl, url);
        await route.fulfill({ response: await route.fetch({ url: target }) });
      });
      await page.goto(`${baseUrl}${path}`);
      return page;
    },
    async keep(page: Page, name: string): Promise<void> {
      if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    },
    async close(): Promise<void> {
      await browser.close();
      sites.close();
    },
  };
}

const shell = (inside: string, lang: string) => `<!doctype html><html lang="${lang}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Page</title>
<style>:root{color-scheme:light dark}body{background:Canvas;color:CanvasText;font-family:Georgia,serif;margin:0;padding:1.5rem;max-width:60rem}</style>
<main><h1>The pottery</h1>${inside}</main>`;
