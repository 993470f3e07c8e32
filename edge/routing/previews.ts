/** Drafts of sites, each on a host of its own: served as the site would be, with a bar that says what it is, and kept from search engines. */
import { LRUCache } from 'lru-cache';
import { draftBar } from '#edge/content/draft-bar.ts';
import { wantsPage } from '#edge/content/files.ts';
import { answerInserted, createSnippet, type Snippet } from '#edge/content/insertion.ts';
import { type Answer, answerPage, answerRedirect, type Source } from '#edge/content/response.ts';
import type { Version, Versions } from '#edge/content/versions.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { type Later, whenKnown } from '#edge/maybe-async.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Finding } from './path-cache.ts';
import type { Target } from './paths.ts';
import { answerRule, type SiteRedirects } from './redirects.ts';
import type { SitePreview } from './site-table.ts';

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
    if (site.status !== 'active') return answerPage(site.status, as);
    if (clock.now() >= new Date(preview.expiresAt)) return answerPage('ended', as);
    const version = versions.held(preview.manifestSha256) ?? versions.load(preview.manifestSha256);
    const set = site.redirectsSha256 === null ? undefined : rulesOf(site.redirectsSha256);
    const draft = { request, found, target, as, bar: barOf(request, found) };
    return whenKnown(version, (known) =>
      whenKnown(set, (rules) => {
        const ruled = answerRule([rules, known.redirects], target, as);
        return whenKnown(ruled ?? answerPath(draft, known), discreet);
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
    const bar = bars.get(key) ?? createSnippet(draftBar(preview.slot, address));
    bars.set(key, bar);
    return bar;
  }

  return answerDraft;
}

/**
 * With a word to search engines, whatever it is, and to browsers: the draft is for those who were given its address, so no other site is
 * told that somebody came from there.
 */
function discreet({ head, body }: Answer): Answer {
  const fields = head.fields.filter((_, at) => !own.has(head.fields[at - (at % 2)] as string));
  return { head: { status: head.status, fields: [...fields, ...[...own].flat()] }, body };
}
const own = new Map([
  ['x-robots-tag', 'noindex, nofollow'],
  ['referrer-policy', 'same-origin'],
]);
