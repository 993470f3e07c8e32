/** The edge: serves every site from memory and store. A request reads its site's pointer once. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Notifications } from '#db/notifications.ts';
import type { Store } from '#providers/store/store.ts';
import type { Clock } from '#runtime/clock.ts';
import { isHostLabel } from '#runtime/ids.ts';
import { createBlobCache } from './content/blob-cache.ts';
import { wantsPage } from './content/files.ts';
import { createPreviousAssets } from './content/previous-assets.ts';
import { answerPage, type EdgeResponse } from './content/response.ts';
import { answerSketch } from './content/sketches.ts';
import { createVersions } from './content/versions.ts';
import type { VisitorRequest } from './http/request.ts';
import { andThen, type MaybePromise } from './maybe-async.ts';
import type { EdgeDatabase } from './routing/database.ts';
import { createHostRedirects, type HostMatch, type TlsEndpoint } from './routing/host-redirects.ts';
import { certificateNameOf, type RequestAddress, siteNameOf } from './routing/hosts.ts';
import { createLiveSites } from './routing/live-sites.ts';
import { createPathCache } from './routing/path-cache.ts';
import { readTarget, type Target } from './routing/paths.ts';
import { createDraftResponder } from './routing/previews.ts';
import { createSiteRedirects } from './routing/redirects.ts';
import { openSites } from './routing/sites.ts';
import { createSketchHosts } from './routing/sketch-hosts.ts';

export type EdgeParts = {
  baseDomain: string;
  /** Scheme and port of sites' addresses. */
  edgeUrl?: string;
  /** Origin of the API, which receives the choice on a sketch's page. Without it nothing can be chosen. */
  baseUrl?: string | undefined;
  /** Absent without TLS. */
  tls?: TlsEndpoint | undefined;
  store: Store;
  database: EdgeDatabase;
  notifications: Notifications;
  clock: Clock;
  log: Logger;
  /** Aborted when the process shuts down. */
  shutdown?: AbortSignal | undefined;
  /** File of the site table. */
  sitesFile: string;
  /** Memory for files. Manifests and looked-up paths may use a quarter of it each, in addition. */
  cacheBytes: number;
};

export type Edge = {
  /** The response to a request, synchronously if all of it is in memory. Never throws, never rejects. */
  answer(request: VisitorRequest): MaybePromise<EdgeResponse>;
  /** The response to a request for a host that the connection's certificate does not cover. */
  misdirected(request: VisitorRequest): EdgeResponse | undefined;
  /** The redirect, if the host only redirects. */
  redirectFor(request: VisitorRequest): EdgeResponse | undefined;
  /** Whether a site is served at this owner's domain. */
  serves(host: string): boolean;
  /** Logs an error; returns the response to send if nothing was sent yet. */
  fail(request: VisitorRequest, err: unknown): EdgeResponse;
  /** Resolves when the edge knows its sites. */
  ready: Promise<void>;
  close(): Promise<void>;
};

const readyPath = 'readyz';
const manifestBytesMin = 64 * 1024 * 1024;
const pathCacheBytesMin = 16 * 1024 * 1024;
const previousAssetsBytesMax = 64 * 1024 * 1024;
const redirectsBytesMax = 32 * 1024 * 1024;

export function createEdge(parts: EdgeParts): Edge {
  const { store, log, baseDomain } = parts;
  const hostRedirects = createHostRedirects({
    clock: parts.clock,
    baseDomain,
    edgeUrl: parts.edgeUrl ?? 'http://localhost',
    tls: parts.tls,
  });
  const sites = openSites({ ...parts, file: parts.sitesFile });
  const versions = createVersions(store, Math.max(manifestBytesMin, parts.cacheBytes / 4));
  const pathCache = createPathCache(Math.max(pathCacheBytesMin, parts.cacheBytes / 4));
  const siteRedirects = createSiteRedirects(store, redirectsBytesMax);
  const previousAssets = createPreviousAssets({ ...parts, bytesMax: previousAssetsBytesMax });
  const source = { store, blobs: createBlobCache(store, parts.cacheBytes) };
  const shared = { source, versions, pathCache, siteRedirects };
  const liveSites = createLiveSites({ ...shared, previousAssets });
  const respondWithDraft = createDraftResponder({ ...parts, ...shared });
  const ofSketches = { store, baseDomain, baseUrl: parts.baseUrl, sketchHosts: createSketchHosts(parts.database) };
  // At most one log line per host and second.
  const recentlyLogged = new LRUCache<string, true>({ max: 1_000, ttl: 1_000 });

  /** RFC 9110 section 7.4. Hosts of one certificate may share a connection (RFC 9113 section 9.1.1). */
  function misdirected({ address, servername }: VisitorRequest): EdgeResponse | undefined {
    if (servername === undefined) return undefined;
    const host = address?.host;
    if (host === undefined || host === servername) return undefined;
    const [asked, shown] = [host, servername.toLowerCase()].map((one) => certificateNameOf(one, baseDomain));
    return asked === shown ? undefined : answerPage('misdirected', 'text');
  }

  function route(request: VisitorRequest): MaybePromise<EdgeResponse> {
    const refused = misdirected(request);
    if (refused) return refused;
    const { method, address } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && method !== 'OPTIONS') return answerPage('notAllowed', 'text');
    const target = address && readTarget(address.target);
    if (!target) return answerPage(isRead ? 'badRequest' : 'notAllowed', 'text');
    const place = placeOf(address);
    if (!isRead) return place.site ? liveSites.answerPreflight(place.site, target) : answerPage('notAllowed', 'text');
    const moved = hostRedirects.redirectFor(address, request.isSecure, place);
    const answer = moved ?? answerAt(request, place, address.host, target);
    return request.isSecure && hostRedirects.isStrict(address.host, place) ? withStrictTransport(answer) : answer;
  }

  function placeOf({ host }: RequestAddress): HostMatch {
    const name = siteNameOf(host, baseDomain);
    if (name !== undefined) {
      const site = sites.byName(name);
      // Another site may have the name by now.
      const movedTo = site ? undefined : sites.byFormerName(name, parts.clock.now().getTime());
      return { name, site, movedTo, attached: undefined };
    }
    const attached = host === baseDomain ? undefined : sites.byDomain(host);
    return { name, site: attached?.site, movedTo: undefined, attached };
  }

  function answerAt(
    request: VisitorRequest,
    { name, site }: HostMatch,
    host: string,
    target: Target,
  ): MaybePromise<EdgeResponse> {
    const as = wantsPage(target.path) ? 'html' : 'text';
    if (host === baseDomain) return answerBase(target.path, as);
    // Site names never collide with the platform's own hosts.
    if (!site) return name === undefined ? answerPage('unknown', as) : answerOther(request, name, target, as);
    return liveSites.answer(request, site, target);
  }

  /** The base domain: a page for people, and readiness for load balancers. */
  function answerBase(path: string, as: 'html' | 'text'): EdgeResponse {
    if (path !== readyPath) return answerPage('base', as);
    return answerPage(parts.shutdown?.aborted ? 'shuttingDown' : 'ready', 'text');
  }

  function answerOther(
    request: VisitorRequest,
    name: string,
    target: Target,
    as: 'html' | 'text',
  ): MaybePromise<EdgeResponse> {
    if (isHostLabel('sketch', name)) return answerSketch(ofSketches, request, name, target, as);
    const found = sites.byLabel(name);
    return found ? respondWithDraft(request, found, target, as) : answerPage('unknown', as);
  }

  function fail({ address }: VisitorRequest, err: unknown): EdgeResponse {
    const host = address?.host ?? '';
    const path = address && readTarget(address.target)?.path;
    if (!recentlyLogged.has(host)) {
      recentlyLogged.set(host, true);
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
    redirectFor({ method, address, isSecure }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      return address && readTarget(address.target) && hostRedirects.redirectFor(address, isSecure, placeOf(address));
    },
    misdirected,
    serves(host) {
      try {
        return sites.byDomain(host) !== undefined;
      } catch {
        // While the table is read again, any host may be one.
        return true;
      }
    },
    fail,
    ready: sites.ready,
    close: sites.close,
  };
}

function withStrictTransport(answer: MaybePromise<EdgeResponse>): MaybePromise<EdgeResponse> {
  return andThen(answer, (known) => ({ ...known, isStrict: true }));
}
