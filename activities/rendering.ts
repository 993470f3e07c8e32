/** The activities of `renderPages`: they draw, check and compare pages in a browser, which is hostile like a build. */
import { Context } from '@temporalio/activity';
import { Deployment } from '#db/deployments/deployment.ts';
import type { Checked, Rendering } from '#db/renderings/rendering.ts';
import { beginRendering, failRendering, finishRendering, isAwaited } from '#db/renderings/transitions.ts';
import type { OpenPage } from '#providers/browser/page.ts';
import { BrowserFault } from '#providers/browser/pipe.ts';
import type { Renderer, VisitLimits } from '#providers/browser/renderer.ts';
import type { SiteVersion } from '#providers/browser/site-files.ts';
import { diffManifests, type ManifestFile, parseManifest } from '#providers/manifest.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import { checkedWidths, type Finding, findingsMax, oneForEachCause, worstFirst } from '#rules/findings.ts';
import { type Compared, type ComparedPage, type Look, lookOf, type Screenshot, usualHeight } from '#rules/looks.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { withHeartbeat } from './heartbeat.ts';
import { drawCard } from './rendering/card.ts';
import { checkPage, failedPage, type PageFinding } from './rendering/check-page.ts';
import { comparePages } from './rendering/comparison.ts';
import { changedPages, pagesOf, pagesToCompare } from './rendering/pages.ts';
import { openVersion, type ShownVersion } from './rendering/site-version.ts';
import { openDirection } from './rendering/sketch-version.ts';
import { showAll } from './rendering/whole-page.ts';

const screenshotMs = 40_000;
const pageMs = 60_000;
/** After this time no further page is begun: the activity has ten minutes, with all waits for its turn. */
const workMs = 8 * minuteMs;
const picturesMax = 40;

type Version = NonNullable<Rendering['deployment']>;
type RenderingDeps = Pick<Deps, 'clock' | 'em' | 'store'>;
export type BrowserDeps = RenderingDeps & { renderer: Renderer };
/** The activity's abort signal, and whether a call asked for the pages. */
type Request = Pick<VisitLimits, 'signal' | 'isAsked'>;
/** What was drawn: its pictures are in the store. */
type Outcome = { pictures: string[]; result: Checked | Compared | null };

/** Of workers with a browser. */
export function browserActivities({ clock, em, store, renderer }: BrowserDeps) {
  async function draw(version: SiteVersion, shot: Screenshot, request: Request): Promise<Outcome> {
    const visit = { version, path: shot.path, look: lookOf(shot) };
    const picture = await renderer.visit(visit, { timeoutMs: screenshotMs, ...request }, async (page) => {
      if (shot.height === 'full') await showAll(page);
      return await page.picture(shot.format, shot.height === 'full' ? 'page' : 'window');
    });
    return { pictures: [(await store.put(picture)).sha256], result: null };
  }

  async function card(version: ShownVersion, request: Request): Promise<Outcome> {
    const picture = await drawCard(renderer, version, { timeoutMs: screenshotMs, ...request });
    return { pictures: picture ? [(await store.put(picture)).sha256] : [], result: null };
  }

  async function check(
    { id, deployment }: { id: string; deployment: Version },
    version: ShownVersion,
    asked: string[] | null,
    request: Request,
  ): Promise<Outcome> {
    const { pages, left } = await pagesToCheck(deployment, asked);
    const found: PageFinding[] = [];
    const checked: string[] = [];
    const end = performance.now() + workMs;
    for (const page of pages) {
      if (performance.now() > end) break;
      checked.push(page);
      for (const width of checkedWidths) {
        const look: Look = { width, height: usualHeight(width), scheme: 'light' };
        const act = async (open: OpenPage) => {
          if (!open.wasStopped) await showAll(open);
          return await checkPage(version, open, { page, width });
        };
        // A call may begin to wait for it at any page.
        const isAsked = request.isAsked || (await isAwaited(em(), id));
        const limits = { timeoutMs: pageMs, ...request, isAsked };
        found.push(
          ...(await renderer.visit({ version, path: page, look }, limits, act).catch(faultOf({ page, width }))),
        );
      }
    }
    return await withCrops(found, checked, left + pages.length - checked.length);
  }

  /** The pages that were asked for, else those that changed since the version before. */
  async function pagesToCheck({ site, number, manifestSha256 }: Version, asked: string[] | null) {
    if (asked) return { pages: asked, left: 0 };
    const before = await em().findOne(
      Deployment,
      { site: site.id, number: { $lt: number }, status: { $in: ['live', 'retired'] }, manifestSha256: { $ne: null } },
      { orderBy: { number: 'desc' } },
    );
    const files = await filesOf(manifestSha256);
    const earlier = await filesOf(before?.manifestSha256);
    return before ? changedPages(files, diffManifests(earlier, files)) : pagesOf(files);
  }

  async function filesOf(sha256: string | null | undefined): Promise<ManifestFile[]> {
    const manifest = sha256 ? await store.readAll(sha256) : undefined;
    return manifest ? parseManifest(manifest) : [];
  }

  /** Puts the pictures into the store, worst finding first, and gives each finding the position of its own. */
  async function withCrops(found: readonly PageFinding[], pages: string[], pagesLeft: number): Promise<Outcome> {
    const pictures: string[] = [];
    const findings: Finding[] = [];
    for (const { crop, ...finding } of worstFirst(oneForEachCause(found)).slice(0, findingsMax) as PageFinding[]) {
      if (crop && pictures.length < picturesMax) {
        pictures.push((await store.put(crop)).sha256);
        finding.picture = pictures.length - 1;
      }
      findings.push(finding);
    }
    return { pictures, result: { findings, pages, pagesLeft } };
  }

  async function compare(
    { id, deployment }: { id: string; deployment: Version },
    { against, paths }: { against: string; paths: string[] | null },
    request: Request,
  ): Promise<Outcome> {
    const earlier = await em().findOneOrFail(Deployment, { id: against });
    // What a publish of a draft makes live: its output without draft posts.
    const { site, siteUrl, publishedOutput, manifestSha256 } = deployment;
    const later = { site, siteUrl, manifestSha256: publishedOutput?.manifestSha256 ?? manifestSha256 };
    const [before, after] = [await shownVersion(earlier), await shownVersion(later)];
    const files = [await filesOf(earlier.manifestSha256), await filesOf(later.manifestSha256)] as const;
    const { both, added, removed, left } = pagesToCompare(...files, paths);
    const limits = { key: id, end: performance.now() + workMs, timeoutMs: pageMs, ...request };
    const found = await comparePages(renderer, { before, after }, both, limits);
    const pictures: string[] = [];
    const pages: ComparedPage[] = [];
    for (const { bytes, picture, ...page } of found) {
      if (bytes) pictures.push((await store.put(bytes)).sha256);
      pages.push({ ...page, picture: picture && { ...picture, position: pictures.length - 1 } });
    }
    const only = (change: 'added' | 'removed') => (page: string) =>
      ({ page, change, width: null, regions: [], picture: null }) satisfies ComparedPage;
    pages.push(...added.map(only('added')), ...removed.map(only('removed')));
    const unchanged = both.filter((page) => !found.some((one) => one.page === page));
    return { pictures, result: { pages, unchanged, pagesLeft: left } };
  }

  async function shownVersion(deployment: Pick<Version, 'site' | 'siteUrl' | 'manifestSha256'>): Promise<ShownVersion> {
    const [row] = await em().execute<{ sha256: string | null; account: string }[]>(
      'select redirects_sha256 as sha256, account_id as account from site where id = ?',
      [deployment.site.id],
    );
    const bytes = row?.sha256 ? await store.readAll(row.sha256) : undefined;
    const rules: RedirectRule[] = bytes ? JSON.parse(bytes.toString()) : [];
    const version = await openVersion(store, row?.account ?? '', deployment, rules);
    if (!version) throw errors.storage_error('The file list of this version cannot be read at the moment.');
    return version;
  }

  async function show(rendering: Rendering, signal: AbortSignal): Promise<Outcome> {
    const { id, work, deployment, sketch, asked, awaited } = rendering;
    const request = { signal, isAsked: asked || awaited };
    if (!deployment) {
      if (!sketch || !('direction' in work)) throw new Error(`${id} shows neither a version nor a sketch`);
      const direction = await openDirection(em(), store, { sketch: sketch.id, position: work.direction });
      if (!direction) throw new BrowserFault('The sketch has been removed.');
      return await draw(direction, work.screenshot, request);
    }
    if ('comparison' in work) return await compare({ id, deployment }, work.comparison, request);
    const version = await shownVersion(deployment);
    if ('screenshot' in work) return await draw(version, work.screenshot, request);
    if ('card' in work) return await card(version, request);
    return await check({ id, deployment }, version, work.paths, request);
  }

  return {
    /** Returns the status that it leaves behind. */
    async drawPages(id: string): Promise<string> {
      const rendering = await beginRendering(em(), id);
      if (!rendering) return 'finished';
      const { cancellationSignal: signal } = Context.current();
      try {
        const outcome = await withHeartbeat(() => show(rendering, signal));
        // The last page of one that is interrupted looks like a page that cannot be shown.
        signal.throwIfAborted();
        if (outcome.pictures.length > 0) await store.flush();
        await finishRendering(em(), clock, rendering, outcome);
        return 'done';
      } catch (error) {
        if (!(error instanceof BrowserFault) || signal.aborted) throw error;
        await failRendering(em(), clock, id, errors.page_not_shown(error.message).toBody());
        return 'failed';
      }
    },
  };
}

/** Of every platform worker. */
export function renderingActivities({ clock, em }: RenderingDeps) {
  return {
    /** No attempt succeeded, or no worker has a browser. */
    async giveUpRendering(id: string): Promise<string> {
      const message = 'No browser of this platform could show the page.';
      await failRendering(em(), clock, id, errors.screenshots_disabled(message).toBody());
      return 'failed';
    },
  };
}

/** A page that fails to load becomes a finding, and the check continues with the next page. */
const faultOf = (where: { page: string; width: number }) => (error: unknown) => {
  if (error instanceof BrowserFault) return [failedPage(where, error)];
  throw error;
};
