/** Drafts of sites, each on a host of its own: served as the site would be, with a bar that says what it is, and kept from search engines. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { html } from '../web/html.ts';
import { type Answer, answerPage, answerRedirect, type Source } from './answer.ts';
import { wantsPage } from './files.ts';
import type { Finding } from './finding.ts';
import { answerInserted, createSnippet, type Snippet } from './insertion.ts';
import { type Later, whenKnown } from './later.ts';
import type { Target } from './paths.ts';
import { answerRule, type SiteRedirects } from './redirects.ts';
import type { VisitorRequest } from './request.ts';
import type { SitePreview } from './site-table.ts';
import type { Version, Versions } from './versions.ts';

type Parts = {
  baseDomain: string;
  clock: Clock;
  source: Source;
  versions: Versions;
  finding: Finding;
  siteRedirects: SiteRedirects;
};

type Draft = { request: VisitorRequest; found: SitePreview; target: Target; as: 'html' | 'text'; bar: Snippet };

/** Answers requests for a draft. */
export function openDrafts({ baseDomain, clock, source, versions, finding, siteRedirects }: Parts) {
  const bars = new LRUCache<string, Snippet>({ max: 1_000 });

  function answerDraft(
    request: VisitorRequest,
    found: SitePreview,
    target: Target,
    as: 'html' | 'text',
  ): Later<Answer> {
    const { site, preview } = found;
    if (site.status === 'archived') return answerPage('archived', as);
    if (clock.now() >= new Date(preview.expiresAt)) return answerPage('ended', as);
    const version = versions.held(preview.manifestSha256) ?? versions.load(preview.manifestSha256);
    const set = site.redirectsSha256 === null ? undefined : rulesOf(site.redirectsSha256);
    const draft = { request, found, target, as, bar: barOf(request, found) };
    return whenKnown(version, (known) =>
      whenKnown(set, (rules) => {
        const ruled = answerRule([rules, known.redirects], target, as);
        return whenKnown(ruled ?? answerPath(draft, known), unlisted);
      }),
    );
  }

  function rulesOf(sha256: string) {
    return siteRedirects.held(sha256) ?? siteRedirects.load(sha256);
  }

  function answerPath({ request, target, bar }: Draft, version: Version): Later<Answer> {
    const file = finding.find(version, target.path);
    if (file && 'redirectTo' in file) return answerRedirect(file.redirectTo, target.query);
    if (file) return answerInserted(source, request, file.served, bar);
    if (!wantsPage(target.path)) return answerPage('missing', 'text');
    const page = finding.find(version, '404.html');
    if (!page || !('served' in page)) return answerPage('missing', 'html');
    return answerInserted(source, request, page.served, bar, 404);
  }

  function barOf({ fields }: VisitorRequest, { site, preview }: SitePreview): Snippet {
    const port = /:\d{1,5}$/.exec(fields.host ?? '')?.[0] ?? '';
    const address = `//${site.name}.${baseDomain}${port}/`;
    const key = `${preview.slot} ${address}`;
    const bar = bars.get(key) ?? createSnippet(barMarkup(preview.slot, address));
    bars.set(key, bar);
    return bar;
  }

  return answerDraft;
}

/** With a word to search engines, whatever it is: the draft is for those who were given its address. */
function unlisted({ head, body }: Answer): Answer {
  const fields = head.fields.filter((_, at) => head.fields[at - (at % 2)] !== 'x-robots-tag');
  return { head: { status: head.status, fields: [...fields, 'x-robots-tag', 'noindex, nofollow'] }, body };
}

/**
 * In a shadow root (HTML standard, declarative shadow DOM), so that neither the site's style reaches the bar nor the bar's the site. It
 * takes no room from the page, and clicks pass through it but for its link.
 */
function barMarkup(slot: number, address: string): string {
  return html`<frontage-draft><template shadowrootmode="open"><style>
:host{all:initial!important;position:fixed!important;inset:auto 0 0!important;z-index:2147483000!important;pointer-events:none!important;display:flex!important;justify-content:center!important}
p{all:initial;box-sizing:border-box;width:100%;padding:5px 12px calc(5px + env(safe-area-inset-bottom));font:500 13px/1.4 system-ui,sans-serif;text-align:center;color:#fff7e8;background:#2b2320eb;border-top:2px solid #f2a93b}
a{all:unset;cursor:pointer;pointer-events:auto;text-decoration:underline;text-underline-offset:2px}
a:focus-visible{outline:2px solid #f2a93b;outline-offset:2px}
@media print{:host{display:none!important}}
</style><p role="note">Draft in preview ${slot}, not published. <a href="${address}">See the live site</a></p></template></frontage-draft>`
    .markup;
}
