/** Draws pages of two versions, and compares the pictures of each page. A browser does that too: no picture is decoded here. */
import { readFileSync } from 'node:fs';
import { undefinedIfFault } from '#providers/browser/pipe.ts';
import type { Renderer, VisitLimits } from '#providers/browser/renderer.ts';
import { checkedWidths } from '#rules/findings.ts';
import { type ComparedPage, type Look, type Region, usualHeight } from '#rules/looks.ts';
import type { ShownVersion } from './site-version.ts';
import { showAll } from './whole-page.ts';

const script = readFileSync(new URL('../../web/checks/compare.js', import.meta.url), 'utf8');
const compareMs = 20_000;
/** Of the pictures of both versions that differ, which are in memory until they are compared. */
const bytesMax = 128 * 1024 * 1024;

/** A page that looks different, with the picture of it beside the earlier one. */
export type DifferentPage = ComparedPage & { bytes: Buffer | undefined };
type Versions = { before: ShownVersion; after: ShownVersion };
type Difference = { regions: Region[]; picture: { base64: string; width: number; height: number } | null };
/** Of one page in one window; undefined if it was not to be drawn. */
type Drawn = Map<string, Buffer | undefined>;

/**
 * What differs, in the order of the pages. `key` is different for each comparison: its pictures share a browser with no
 * other. After `end`, of `performance.now()`, nothing more is drawn.
 */
export async function comparePages(
  renderer: Renderer,
  { before, after }: Versions,
  pages: readonly string[],
  { key, end, ...limits }: VisitLimits & { key: string; end: number },
): Promise<DifferentPage[]> {
  let bytes = 0;
  const isLate = () => performance.now() > end;
  const old = await drawAll(before, new Map());
  const now = await drawAll(after, old);
  const different: DifferentPage[] = [];
  for (const page of pages) {
    for (const width of checkedWidths) {
      const [a, b] = [old.get(`${width} ${page}`), now.get(`${width} ${page}`)];
      if (!a || !b || (isLate() && !a.equals(b))) different.push(notShown(page, width));
      else if (!a.equals(b)) different.push(await compared(page, width, { a, b }));
    }
  }
  return different;

  /** Both widths of all pages, in one browser. A picture that equals that of the earlier version takes no memory. */
  async function drawAll(version: ShownVersion, earlier: Drawn): Promise<Drawn> {
    const drawn: Drawn = new Map();
    for (const page of pages) {
      for (const width of checkedWidths) {
        const name = `${width} ${page}`;
        const known = earlier.get(name);
        const picture = bytes > bytesMax || isLate() ? undefined : await draw(version, page, width);
        const isSame = picture !== undefined && known?.equals(picture) === true;
        if (!isSame) bytes += picture?.length ?? 0;
        drawn.set(name, isSame ? known : picture);
      }
    }
    return drawn;
  }

  async function draw(version: ShownVersion, path: string, width: number): Promise<Buffer | undefined> {
    const look: Look = { width, height: usualHeight(width), scheme: 'light' };
    const visit = renderer.visit({ version, path, look }, limits, async (page) => {
      if (!page.wasStopped) await showAll(page);
      return await page.picture('png', 'page');
    });
    return await visit.catch(undefinedIfFault);
  }

  async function compared(page: string, width: number, { a, b }: { a: Buffer; b: Buffer }): Promise<DifferentPage> {
    const html = Buffer.from('<!doctype html><title>Two pictures</title><img src="/a.png"><img src="/b.png">');
    const files = new Map([
      ['/', { type: 'text/html', body: html }],
      ['/a.png', { type: 'image/png', body: a }],
      ['/b.png', { type: 'image/png', body: b }],
    ]);
    const { account } = after;
    const version = { key, account, origin: 'https://pictures.invalid', read: async (path: string) => files.get(path) };
    const look: Look = { width: 1280, height: 900, scheme: 'light' };
    const visit = renderer.visit({ version, path: '/', look }, limits, (open) =>
      open.evaluate(`${script}\ncompare()`, compareMs),
    );
    const found = (await visit.catch(undefinedIfFault)) as Difference | undefined;
    if (!found) return notShown(page, width);
    const { regions, picture } = found;
    const size = picture && { position: -1, width: picture.width, height: picture.height };
    const bytes = picture ? Buffer.from(picture.base64, 'base64') : undefined;
    return { page, change: 'changed', width, regions, picture: size, bytes };
  }
}

const notShown = (page: string, width: number): DifferentPage => ({
  page,
  change: 'not_shown',
  width,
  regions: [],
  picture: null,
  bytes: undefined,
});
