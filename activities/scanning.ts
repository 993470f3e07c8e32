/** The step of `scanContent`: what is new in a version, or a sketch's directions, is read and what a person should look at written down. */
import { Context } from '@temporalio/activity';
import { siteHostname } from '../config.ts';
import { domainsOfSite } from '../db/domains.ts';
import { Deployment } from '../db/entities/deployment.ts';
import { Sketch } from '../db/entities/sketch.ts';
import { type Found, raiseFlags } from '../db/flags.ts';
import type { Deps } from '../deps.ts';
import { type ManifestFile, parseManifest } from '../providers/manifest.ts';
import type { Place } from './scanning/judging.ts';
import { scanVersion } from './scanning/version.ts';

export type Scanned = { files: number; flags: number };
type Needed = Pick<Deps, 'config' | 'clock' | 'em' | 'store' | 'log'>;

/** Versions whose files are known to have been scanned. */
const earlierMax = 3;

export function scanningActivities(deps: Needed) {
  const { clock, config, em, store } = deps;

  async function filesOf(manifestSha256: string): Promise<ManifestFile[]> {
    const manifest = await store.readAll(manifestSha256);
    return manifest ? parseManifest(manifest) : [];
  }

  async function placeOf({ site, siteUrl }: Deployment): Promise<Place> {
    const domains = await domainsOfSite(em(), site.id);
    const hosts = [siteHostname(config, site.name), ...domains.map(({ name }) => name), new URL(siteUrl).hostname];
    return { address: new URL(siteUrl), hosts: new Set(hosts), platform: new URL(config.baseUrl).host };
  }

  async function scanDeployment(id: string, beat: () => void): Promise<Scanned> {
    const deployment = await em().findOne(Deployment, { id }, { populate: ['site'] });
    const { manifestSha256, scannedAt, status } = deployment ?? {};
    // What is shown no more is scanned when it is shown again.
    if (!deployment || !manifestSha256 || scannedAt || (status !== 'live' && status !== 'ready'))
      return { files: 0, flags: 0 };
    const earlier = await em().find(
      Deployment,
      { site: deployment.site, scannedAt: { $ne: null }, manifestSha256: { $ne: null } },
      { orderBy: { scannedAt: 'desc' }, limit: earlierMax },
    );
    const known = new Set<string>();
    for (const { manifestSha256: of } of earlier)
      for (const { sha256 } of of ? await filesOf(of) : []) known.add(sha256);
    const files = await filesOf(manifestSha256);
    const { found, read } = await scanVersion(store, { files, known, place: await placeOf(deployment), beat });
    await em().transactional(async (tx) => {
      await raiseFlags(tx, clock, { site: deployment.site.id, deployment: id }, found);
      await tx.nativeUpdate(Deployment, { id }, { scannedAt: clock.now() });
    });
    return { files: read, flags: found.length };
  }

  async function scanSketch(id: string, beat: () => void): Promise<Scanned> {
    const sketch = await em().findOne(Sketch, { id }, { populate: ['hosts'] });
    if (!sketch || sketch.scannedAt || sketch.status !== 'shown') return { files: 0, flags: 0 };
    const files = sketch.hosts.getItems().flatMap(({ position, sha256 }) => {
      return sha256 ? [{ path: `direction-${position}.html`, sha256, bytes: 0 }] : [];
    });
    const address = new URL(config.edgeUrl);
    const place = { address, hosts: new Set([address.hostname]), platform: new URL(config.baseUrl).host };
    const { found, read } = await scanVersion(store, { files, known: new Set(), place, beat });
    await em().transactional(async (tx) => {
      await raiseFlags(tx, clock, { sketch: id }, found satisfies Found[]);
      await tx.nativeUpdate(Sketch, { id }, { scannedAt: clock.now() });
    });
    return { files: read, flags: found.length };
  }

  return {
    async scanFiles(id: string): Promise<Scanned> {
      const context = Context.current();
      const beat = () => {
        context.heartbeat();
        context.cancellationSignal.throwIfAborted();
      };
      const scanned = await (id.startsWith('sketch_') ? scanSketch(id, beat) : scanDeployment(id, beat));
      if (scanned.flags > 0) deps.log.warn({ scanned: id, ...scanned }, 'files were flagged: `operator flags list`');
      return scanned;
    },
  };
}
