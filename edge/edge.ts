/** The edge: answers visitors of every site from memory and store. A request follows its site's pointer once, and no further. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Notifications } from '#db/notifications.ts';
import type { Store } from '#providers/store/store.ts';
import type { Clock } from '#runtime/clock.ts';
import { isHostLabel } from '#runtime/ids.ts';
import { openBytes } from './content/blob-cache.ts';
import { isHashedAsset, wantsPage } from './content/files.ts';
import { openEarlierAssets } from './content/previous-assets.ts';
import { servedFile } from './content/representations.ts';
import { type Answer, answerFile, answerMissing, answerPage, answerRedirect } from './content/response.ts';
import { answerSketch } from './content/sketches.ts';
import { openVersions, type Version } from './content/versions.ts';
import type { VisitorRequest } from './http/request.ts';
import { type Later, whenKnown } from './maybe-async.ts';
import type { EdgeDatabase, SiteRow } from './routing/database.ts';
import { openMoving, type Place, type TlsStanding } from './routing/host-redirects.ts';
import { certificateNameOf, type RequestAddress, siteNameOf } from './routing/hosts.ts';
import { openFinding } from './routing/path-cache.ts';
import { readTarget, type Target } from './routing/paths.ts';
import { openDrafts } from './routing/previews.ts';
import { answerRule, openSiteRedirects } from './routing/redirects.ts';
import { openSites } from './routing/sites.ts';
import { openSketchHosts } from './routing/sketch-hosts.ts';

export type EdgeParts = {
  baseDomain: string;
  /** Scheme and port of sites' own addresses. */
  edgeUrl?: string;
  /** Absent where this edge speaks no TLS. */
  tls?: TlsStanding | undefined;
  store: Store;
  database: EdgeDatabase;
  changes: Notifications;
  clock: Clock;
  log: Logger;
  /** Aborted when the process is to end. */
  leaving?: AbortSignal | undefined;
  /** Where the table of sites is kept for a start without the database. */
  sitesFile: string;
  /** Memory for files' bytes. Manifests and what was found in them may take a quarter of it beside, each. */
  cacheBytes: number;
};

export type Edge = {
  /** The answer to a request: at once when all of it is in memory. Never throws, never rejects. */
  answer(request: VisitorRequest): Later<Answer>;
  /** The answer to who asks for a host on a connection that was opened for another, whose certificate does not cover it. */
  misdirected(request: VisitorRequest): Answer | undefined;
  /** Where a request is to be made instead, if its host only leads to another. */
  elsewhere(request: VisitorRequest): Answer | undefined;
  /** Whether a site is served at this host of an owner's. */
  serves(host: string): boolean;
  /** Notes a fault that came up while an answer was sent; answers what to send if nothing was sent yet. */
  fail(request: VisitorRequest, err: unknown): Answer;
  /** Resolves when the edge knows its sites. */
  ready: Promise<void>;
  close(): Promise<void>;
};

const readyPath = 'readyz';
const manifestBytesMin = 64 * 1024 * 1024;
const foundBytesMin = 16 * 1024 * 1024;
const earlierBytesMax = 64 * 1024 * 1024;
const redirectsBytesMax = 32 * 1024 * 1024;

export function createEdge(parts: EdgeParts): Edge {
  const { store, log, baseDomain } = parts;
  const moving = openMoving({
    clock: parts.clock,
    baseDomain,
    edgeUrl: parts.edgeUrl ?? 'http://localhost',
    tls: parts.tls,
  });
  const sites = openSites({ ...parts, file: parts.sitesFile });
  const versions = openVersions(store, Math.max(manifestBytesMin, parts.cacheBytes / 4));
  const finding = openFinding(Math.max(foundBytesMin, parts.cacheBytes / 4));
  const siteRedirects = openSiteRedirects(store, redirectsBytesMax);
  const earlier = openEarlierAssets({ ...parts, bytesMax: earlierBytesMax });
  const source = { store, bytes: openBytes(store, parts.cacheBytes) };
  const answerDraft = openDrafts({ ...parts, source, versions, finding, siteRedirects });
  const ofSketches = { store, baseDomain, sketchHosts: openSketchHosts(parts.database) };
  // A fault of one host is one line a second, however many visitors meet it.
  const saidLately = new LRUCache<string, true>({ max: 1_000, ttl: 1_000 });

  /** RFC 9110 section 7.4. Hosts of one certificate may share a connection (RFC 9113 section 9.1.1). */
  function misdirected({ address, servername }: VisitorRequest): Answer | undefined {
    if (servername === undefined) return undefined;
    const host = address?.host;
    if (host === undefined || host === servername) return undefined;
    const [asked, shown] = [host, servername.toLowerCase()].map((one) => certificateNameOf(one, baseDomain));
    return asked === shown ? undefined : answerPage('misdirected', 'text');
  }

  function route(request: VisitorRequest): Later<Answer> {
    const refused = misdirected(request);
    if (refused) return refused;
    if (request.method !== 'GET' && request.method !== 'HEAD') return answerPage('notAllowed', 'text');
    const { address } = request;
    const target = address && readTarget(address.target);
    if (!target) return answerPage('badRequest', 'text');
    const place = placeOf(address);
    const moved = moving.of(address, request.isSecure, place);
    const answer = moved ?? answerAt(request, place, address.host, target);
    return request.isSecure && moving.isStrict(address.host, place) ? strictly(answer) : answer;
  }

  function placeOf({ host }: RequestAddress): Place {
    const name = siteNameOf(host, baseDomain);
    if (name !== undefined) return { name, site: sites.byName(name), attached: undefined };
    const attached = sites.byDomain(host);
    return { name, site: attached?.site, attached };
  }

  function answerAt(request: VisitorRequest, { name, site }: Place, host: string, target: Target): Later<Answer> {
    const as = wantsPage(target.path) ? 'html' : 'text';
    if (host === baseDomain) return answerBase(target.path, as);
    // A site is never called as a host of the platform's own is.
    if (!site) return name === undefined ? answerPage('unknown', as) : answerOther(request, name, target, as);
    if (site.status !== 'active') return answerPage(site.status, as);
    if (site.manifestSha256 === null) return answerPage('unpublished', as);
    const version = versions.held(site.manifestSha256) ?? versions.load(site.manifestSha256);
    return whenKnown(version, (known) => answerSite(request, site, known, target));
  }

  /** Our own host: a page for people, and for whoever shares out connections whether this edge takes them. */
  function answerBase(path: string, as: 'html' | 'text'): Answer {
    if (path !== readyPath) return answerPage('base', as);
    return answerPage(parts.leaving?.aborted ? 'leaving' : 'ready', 'text');
  }

  function answerOther(request: VisitorRequest, name: string, target: Target, as: 'html' | 'text'): Later<Answer> {
    if (isHostLabel('sketch', name)) return answerSketch(ofSketches, request, name, target, as);
    const found = sites.byLabel(name);
    return found ? answerDraft(request, found, target, as) : answerPage('unknown', as);
  }

  function answerSite(request: VisitorRequest, site: SiteRow, version: Version, target: Target): Later<Answer> {
    const own = site.redirectsSha256;
    if (own === null && !version.redirects) return answerPath(request, site, version, target);
    const set = own === null ? undefined : (siteRedirects.held(own) ?? siteRedirects.load(own));
    return whenKnown(set, (known) => {
      const as = wantsPage(target.path) ? 'html' : 'text';
      return answerRule([known, version.redirects], target, as) ?? answerPath(request, site, version, target);
    });
  }

  function answerPath(request: VisitorRequest, site: SiteRow, version: Version, target: Target): Later<Answer> {
    const found = finding.find(version, target.path);
    if (found && 'redirectTo' in found) return answerRedirect(found.redirectTo, target.query);
    if (found) return seen(answerFile(source, request, found.served), site.id, found.served.page);
    if (!isHashedAsset(target.path)) return answerNothing(request, version, target.path);
    return earlier.find(site.id, target.path).then((asset) => {
      if (asset) return answerFile(source, request, servedFile(asset));
      return answerNothing(request, version, target.path);
    });
  }

  function answerNothing(request: VisitorRequest, version: Version, path: string): Later<Answer> {
    if (!wantsPage(path)) return answerPage('missing', 'text');
    const page = finding.find(version, '404.html');
    return page && 'served' in page ? answerMissing(source, request, page.served) : answerPage('missing', 'html');
  }

  function fail({ address }: VisitorRequest, err: unknown): Answer {
    const host = address?.host ?? '';
    const path = address && readTarget(address.target)?.path;
    if (!saidLately.has(host)) {
      saidLately.set(host, true);
      log.error({ err, host, path }, 'not served');
    }
    return answerPage('unavailable', path !== undefined && wantsPage(path) ? 'html' : 'text');
  }

  return {
    answer(request) {
      try {
        const answer = route(request);
        return answer instanceof Promise ? answer.catch((err) => fail(request, err)) : answer;
      } catch (err) {
        return fail(request, err);
      }
    },
    elsewhere({ method, address, isSecure }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      return address && readTarget(address.target) && moving.of(address, isSecure, placeOf(address));
    },
    misdirected,
    serves: (host) => sites.byDomain(host) !== undefined,
    fail,
    ready: sites.ready,
    close: sites.close,
  };
}

function strictly(answer: Later<Answer>): Later<Answer> {
  return whenKnown(answer, (known) => ({ ...known, isStrict: true }));
}

/** Says which page of which site it is, for those who count. */
function seen(answer: Later<Answer>, siteId: string, page: string | undefined): Later<Answer> {
  if (page === undefined) return answer;
  return whenKnown(answer, ({ head, body }) => ({ head, body, siteId, page }));
}
