/** Two versions of a site beside each other: which pages look different, before a preview is published. */
import { type SiteFrame, sitePage } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { pageName } from '#web/page-names.js';

export type ComparisonPage = {
  id: string;
  status: 'queued' | 'running' | 'done' | 'failed';
  pages: {
    page: string;
    change: 'changed' | 'added' | 'removed' | 'not_shown';
    width: number | null;
    picture: { url: string; width: number; height: number } | null;
  }[];
  unchanged: string[];
  pages_left: number;
  error?: { message: string };
  version: { id: string; number: number };
  against: { id: string; number: number };
  /** The preview whose draft this version is, if it can be published. */
  slot: number | null;
};

const style = `.pair img { display: block; max-width: 100%; height: auto; border: 1px solid var(--edge); border-radius: 0.625rem }
.pair { display: grid; gap: 0.5rem }`;

export function comparisonPage(frame: SiteFrame, page: ComparisonPage): WrittenPage {
  const { site } = frame;
  const path = sitePath(site.id);
  const isRunning = page.status === 'queued' || page.status === 'running';
  const title = `${page.slot === null ? `Version ${page.version.number}` : `Preview ${page.slot}`} beside version ${page.against.number}`;
  const main = html`<p class="back"><a href="${path}">Overview</a></p>
<h1>${title}</h1>
<p class="lead">What looks different, on a phone and on a wide screen.</p>
${isRunning ? waiting(`${path}/comparisons/${page.id}/progress`, page.status) : null}
${page.status === 'failed' ? html`<p class="fault">${page.error?.message ?? 'The pages could not be compared.'}</p>` : null}
${page.status === 'done' ? result(frame, page) : null}`;
  const modules = isRunning ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'overview', { title, main, style, ...modules });
}

/** What is being done, of a comparison that is not done. */
export const progressOf = (status: string): string =>
  status === 'queued' ? 'The pages are compared shortly' : 'The pages are being compared';

const waiting = (
  progress: string,
  status: string,
): Html => html`<section class="panel running" data-progress="${progress}">
<p><span class="pulse" aria-hidden="true"></span> <span data-status role="status">${progressOf(status)}</span>. This takes about a minute.</p>
</section>`;

function result({ site, form }: SiteFrame, { id, slot, pages, unchanged, pages_left: left }: ComparisonPage): Html {
  const path = sitePath(site.id);
  const publish =
    slot === null || site.archived
      ? null
      : html`<section class="panel"><p>If every change is meant, publish the preview. Visitors see it at once.</p>
${form({ action: `${path}/previews/${slot}/publish`, inline: true }, html`<button>Publish preview ${slot}</button>`)}</section>`;
  const names = (change: string) => pages.filter((one) => one.change === change).map(({ page }) => page);
  return html`${publish}
${pages.length === 0 ? html`<p class="panel empty">No page looks different.</p>` : null}
${pages.filter(({ change }) => change === 'changed').map((one) => pair(one, `${path}/comparisons/${id}`))}
${pageList('New pages', names('added'), site.address)}
${pageList('Removed pages', names('removed'))}
${pageList('Pages that could not be shown', [...new Set(names('not_shown'))])}
${pageList('Pages that look the same', unchanged, site.address)}
${left > 0 ? html`<p class="hint">${left} further ${left === 1 ? 'page was' : 'pages were'} not compared.</p>` : null}`;
}

function pair({ page, width, picture }: ComparisonPage['pages'][number], path: string): Html {
  const window = width !== null && width < 600 ? 'on a phone' : 'on a wide screen';
  const name = pageName(page);
  const heading = html`<h2>${name} ${window}</h2>`;
  if (!picture) return html`<section>${heading}<p class="hint">Only its length is different.</p></section>`;
  const source = `${path}/pictures/${picture.url.split('/').at(-1)}`;
  return html`<section>${heading}
<div class="pair"><a href="${source}"><img src="${source}" alt="${name} ${window}, before and after" loading="lazy" width="${picture.width}" height="${picture.height}"></a>
<p class="hint">Before on the left, after on the right. What differs is outlined.</p></div></section>`;
}

/** `address`: of the site, where it has these pages. */
function pageList(words: string, pages: readonly string[], address?: string): Html | null {
  if (pages.length === 0) return null;
  return html`<section><h2>${words}</h2><div class="panel"><ul class="files">${pages.map((page) => html`<li>${address === undefined ? pageName(page) : html`<a href="${address}${page}" rel="noopener noreferrer">${pageName(page)}</a>`}</li>`)}</ul></div></section>`;
}
