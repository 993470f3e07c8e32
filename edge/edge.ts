/** The edge: answers visitors of every site from memory and store. A request follows its site's pointer once, and no further. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Changes } from '../db/changes.ts';
import type { Store } from '../providers/store/store.ts';
import { answerFile, answerMissing, answerPage, answerRedirect, type Exchange } from './answer.ts';
import { openBytes } from './bytes.ts';
import type { EdgeDatabase, SiteRow } from './database.ts';
import { openEarlierAssets } from './earlier.ts';
import { findFile, isHashedAsset, wantsPage } from './files.ts';
import { servedFile } from './forms.ts';
import { readAddress, siteNameOf } from './hosts.ts';
import { readTarget, type Target } from './paths.ts';
import { answerRule, openSiteRedirects } from './redirects.ts';
import { readFields } from './request.ts';
import { openSites } from './sites.ts';
import { openVersions, type Version } from './versions.ts';

export type EdgeParts = {
  baseDomain: string;
  store: Store;
  database: EdgeDatabase;
  changes: Changes;
  clock: Clock;
  log: Logger;
  /** Where the table of sites is kept for a start without the database. */
  sitesFile: string;
  /** Memory for files' bytes. Manifests may take a quarter of it beside, and at least what the largest one takes. */
  cacheBytes: number;
};

export type Edge = {
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Resolves when the edge knows its sites. */
  ready: Promise<void>;
  close(): Promise<void>;
};

const manifestBytesMin = 64 * 1024 * 1024;
const earlierBytesMax = 32 * 1024 * 1024;
const redirectsBytesMax = 32 * 1024 * 1024;

export function createEdge(parts: EdgeParts): Edge {
  const { store, log, baseDomain } = parts;
  const sites = openSites({ ...parts, file: parts.sitesFile });
  const versions = openVersions(store, Math.max(manifestBytesMin, parts.cacheBytes / 4));
  const siteRedirects = openSiteRedirects(store, redirectsBytesMax);
  const earlier = openEarlierAssets({ ...parts, bytesMax: earlierBytesMax });
  const source = { store, bytes: openBytes(store, parts.cacheBytes) };
  // A fault of one site is one line a second, however many visitors meet it.
  const saidLately = new LRUCache<string, true>({ max: 1_000, ttl: 1_000 });

  async function route(exchange: Exchange): Promise<void> {
    const { req, res, fields } = exchange;
    if (req.method !== 'GET' && req.method !== 'HEAD') return answerPage(res, 'notAllowed', 'text');
    const address = readAddress(req.url as string, fields.host);
    const target = address && readTarget(address.target);
    if (!target) return answerPage(res, 'badRequest', 'text');
    const as = wantsPage(target.path) ? 'html' : 'text';
    if (address.host === baseDomain) return answerPage(res, 'base', as);
    const name = siteNameOf(address.host, baseDomain);
    const site = name === undefined ? undefined : sites.byName(name);
    if (!site) return answerPage(res, 'unknown', as);
    if (site.status === 'archived') return answerPage(res, 'archived', as);
    if (site.manifestSha256 === null) return answerPage(res, 'unpublished', as);
    await answerSite(exchange, site, site.manifestSha256, target).catch((err) => fail(exchange, site, err, as));
  }

  async function answerSite(exchange: Exchange, site: SiteRow, manifest: string, target: Target): Promise<void> {
    const version = versions.held(manifest) ?? (await versions.load(manifest));
    if (site.redirectsSha256 !== null || version.redirects) {
      const own = site.redirectsSha256;
      const set = own === null ? undefined : (siteRedirects.held(own) ?? (await siteRedirects.load(own)));
      const as = wantsPage(target.path) ? 'html' : 'text';
      if (answerRule(exchange.res, [set, version.redirects], target, as)) return;
    }
    const found = findFile(version.files, target.path);
    if (!found) return answerNothing(exchange, site, version, target.path);
    if ('file' in found) return answerFile(source, exchange, servedFile(found.file));
    answerRedirect(exchange.res, found.redirectTo, target.query);
  }

  async function answerNothing(exchange: Exchange, site: SiteRow, version: Version, path: string): Promise<void> {
    const asset = isHashedAsset(path) ? await earlier.find(site.id, path) : undefined;
    if (asset) return answerFile(source, exchange, servedFile(asset));
    if (!wantsPage(path)) return answerPage(exchange.res, 'missing', 'text');
    const page = version.files.get('404.html');
    if (page) return answerMissing(source, exchange, servedFile(page));
    answerPage(exchange.res, 'missing', 'html');
  }

  function fail({ req, res }: Exchange, site: SiteRow | undefined, err: unknown, as: 'html' | 'text'): void {
    // A visitor who left is no fault.
    if ((err as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    if (!saidLately.has(site?.id ?? '')) {
      saidLately.set(site?.id ?? '', true);
      log.error({ err, site: site?.id, host: req.headers.host, path: req.url?.split('?')[0] }, 'not served');
    }
    if (res.headersSent) res.destroy();
    else answerPage(res, 'unavailable', as);
  }

  return {
    async answer(req, res) {
      const exchange = { req, res, fields: readFields(req.rawHeaders) };
      // What is not read may not be taken for the next request.
      if (exchange.fields.hasBody) res.shouldKeepAlive = false;
      await route(exchange).catch((err) => fail(exchange, undefined, err, 'text'));
    },
    ready: sites.ready,
    close: sites.close,
  };
}
