/** The activities of `renderPages`: they draw and check pages of a version in a browser, which is hostile like a build. */
import { Context } from '@temporalio/activity';
import { Deployment } from '#db/deployments/deployment.ts';
import type { Checked, Rendering } from '#db/renderings/rendering.ts';
import { beginRendering, failRendering, finishRendering } from '#db/renderings/transitions.ts';
import type { OpenPage } from '#providers/browser/page.ts';
import { BrowserFault } from '#providers/browser/pipe.ts';
import type { Renderer } from '#providers/browser/renderer.ts';
import { diffManifests, type ManifestFile, parseManifest } from '#providers/manifest.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import { checkedWidths, type Finding, findingsMax, oneForEachCause, worstFirst } from '#rules/findings.ts';
import { type Look, lookOf, type Screenshot, usualHeight } from '#rules/looks.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { withHeartbeat } from './heartbeat.ts';
import { checkPage, failedPage, type PageFinding } from './rendering/check-page.ts';
import { changedPages, pagesOf } from './rendering/pages.ts';
import { openVersion, type ShownVersion } from './rendering/site-version.ts';

const screenshotMs = 40_000;
const pageMs = 60_000;
const picturesMax = 40;

type RenderingDeps = Pick<Deps, 'clock' | 'em' | 'store'>;
export type BrowserDeps = RenderingDeps & { renderer: Renderer };

/** Of workers with a browser. */
export function browserActivities({ clock, em, store, renderer }: BrowserDeps) {
  async function draw(
    rendering: Rendering,
    version: ShownVersion,
    shot: Screenshot,
    signal: AbortSignal,
  ): Promise<void> {
    const visit = { version, path: shot.path, look: lookOf(shot) };
    const picture = await renderer.visit(visit, { timeoutMs: screenshotMs, signal }, async (page) => {
      if (shot.height === 'full') await showAll(page);
      return await page.picture(shot.format, shot.height === 'full' ? 'page' : 'window');
    });
    const { sha256 } = await store.put(picture);
    await store.flush();
    await finishRendering(em(), clock, rendering, { pictures: [sha256], result: null });
  }

  async function check(
    rendering: Rendering,
    version: ShownVersion,
    asked: string[] | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { pages, left } = await pagesToCheck(rendering, asked);
    const found: PageFinding[] = [];
    for (const page of pages) {
      for (const width of checkedWidths) {
        const look: Look = { width, height: usualHeight(width), scheme: 'light' };
        const act = async (open: OpenPage) => {
          if (!open.wasStopped) await showAll(open);
          return await checkPage(version, open, { page, width });
        };
        const limits = { timeoutMs: pageMs, signal };
        found.push(
          ...(await renderer.visit({ version, path: page, look }, limits, act).catch(faultOf({ page, width }))),
        );
      }
    }
    await finishRendering(em(), clock, rendering, await stored(found, pages, left));
  }

  /** The pages that were asked for, else those that changed since the version before. */
  async function pagesToCheck({ deployment }: Rendering, asked: string[] | null) {
    if (asked) return { pages: asked, left: 0 };
    const { site, number, manifestSha256 } = deployment;
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
  async function stored(found: readonly PageFinding[], pages: string[], pagesLeft: number) {
    const pictures: string[] = [];
    const findings: Finding[] = [];
    for (const { crop, ...finding } of worstFirst(oneForEachCause(found)).slice(0, findingsMax) as PageFinding[]) {
      if (crop && pictures.length < picturesMax) {
        pictures.push((await store.put(crop)).sha256);
        finding.picture = pictures.length - 1;
      }
      findings.push(finding);
    }
    if (pictures.length > 0) await store.flush();
    const result: Checked = { findings, pages, pagesLeft };
    return { pictures, result };
  }

  async function rulesOf({ site }: Rendering): Promise<RedirectRule[]> {
    const [row] = await em().execute<{ sha256: string | null }[]>(
      'select redirects_sha256 as sha256 from site where id = ?',
      [site.id],
    );
    const rules = row?.sha256 ? await store.readAll(row.sha256) : undefined;
    return rules ? JSON.parse(rules.toString()) : [];
  }

  async function show(rendering: Rendering, signal: AbortSignal): Promise<void> {
    const version = await openVersion(store, rendering.deployment, await rulesOf(rendering));
    if (!version) throw errors.storage_error('The file list of this version cannot be read at the moment.');
    const { work } = rendering;
    await ('screenshot' in work
      ? draw(rendering, version, work.screenshot, signal)
      : check(rendering, version, work.paths, signal));
  }

  return {
    /** Returns the status that it leaves behind. */
    async drawPages(id: string): Promise<string> {
      const rendering = await beginRendering(em(), id);
      if (!rendering) return 'finished';
      const { cancellationSignal: signal } = Context.current();
      try {
        await withHeartbeat(() => show(rendering, signal));
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

/** Scrolls through the page once, so that pictures that load late are there. */
async function showAll(page: OpenPage): Promise<void> {
  const expression = `(async () => {
    for (let y = 0; y < Math.min(document.documentElement.scrollHeight, 8000); y += innerHeight) {
      scrollTo({ top: y, behavior: 'instant' });
      await new Promise((drawn) => setTimeout(drawn, 30));
    }
    scrollTo({ top: 0, behavior: 'instant' });
    const pictures = [...document.images].filter(({ complete }) => !complete).slice(0, 100);
    const settled = Promise.all(pictures.map((one) => new Promise((done) => { one.onload = one.onerror = done; })));
    await Promise.race([settled, new Promise((late) => setTimeout(late, 1000))]);
    return true;
  })()`;
  await page.evaluate(expression, 6_000).catch((error: unknown) => {
    if (!(error instanceof BrowserFault)) throw error;
  });
}

/** A page that does not let itself be shown is a finding, not an end. */
const faultOf = (where: { page: string; width: number }) => (error: unknown) => {
  if (error instanceof BrowserFault) return [failedPage(where, error)];
  throw error;
};
