/** The activities of `scanContent`: they scan the new files of a version, or the directions of a sketch, and raise flags for operators. */
import { Context } from '@temporalio/activity';
import { Deployment } from '#db/deployments/deployment.ts';
import { siteHosts } from '#db/domains/site-hosts.ts';
import type { EntityManager } from '#db/orm.ts';
import { queueRendering } from '#db/renderings/transitions.ts';
import { raiseFlags, raiseForRules, unscanned } from '#db/scanning/transitions.ts';
import { lockSiteForKeyShare } from '#db/sites/transitions.ts';
import { Sketch } from '#db/sketches/sketch.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { describeExternalTargets } from '#providers/redirects/external-targets.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { createFairQueue } from './scanning/fair-queue.ts';
import type { SiteOrigin } from './scanning/findings.ts';
import { keyOf, scanVersion } from './scanning/version.ts';

/** `busy`: retry, because this process scans something else, or the hosts of the site have changed during the scan. */
export type ScanResult = { files: number; flags: number; busy?: true };
const none: ScanResult = { files: 0, flags: 0 };
type ScanDeps = Pick<Deps, 'config' | 'clock' | 'em' | 'store' | 'log'>;

/** The number of completely scanned versions whose files are not scanned again. */
const earlierVersionsMax = 3;

export function scanningActivities(deps: ScanDeps) {
  const { clock, config, em, store } = deps;

  async function filesOf(manifestSha256: string): Promise<ManifestFile[] | undefined> {
    const manifest = await store.readAll(manifestSha256);
    return manifest && parseManifest(manifest);
  }

  async function earlierOf(site: Deployment['site']): Promise<Set<string>[]> {
    const earlier = await em().find(
      Deployment,
      { site, scannedAt: { $ne: null }, scannedWhole: true, manifestSha256: { $ne: null } },
      { orderBy: { scannedAt: 'desc' }, limit: earlierVersionsMax },
    );
    const all = await Promise.all(earlier.map(async ({ manifestSha256: of }) => (of ? await filesOf(of) : undefined)));
    return all.map((files = []) => new Set(files.map(keyOf)));
  }

  async function placeOf(from: EntityManager, { site }: Deployment): Promise<SiteOrigin> {
    const address = new URL(siteAddress(config, site.name));
    return { address, hosts: await siteHosts(from, config, site), platform: new URL(config.baseUrl).host };
  }

  /** The finding about the current redirect rules of the site, if any. */
  async function rulesOf({ redirectsSha256: sha256 }: Deployment['site'], place: SiteOrigin) {
    const blob = sha256 ? await store.readAll(sha256) : undefined;
    const excerpt = blob && describeExternalTargets(JSON.parse(blob.toString()) as RedirectRule[], place);
    return sha256 && excerpt ? { sha256, excerpt } : undefined;
  }

  async function scanDeployment(id: string, beat: () => void): Promise<ScanResult> {
    const deployment = await em().findOne(Deployment, { id }, { populate: ['site'] });
    const { manifestSha256, scannedAt, status } = deployment ?? {};
    // A version that is not shown now is scanned when it is shown again.
    if (!deployment || !manifestSha256 || scannedAt || (status !== 'live' && status !== 'ready')) return none;
    const files = await filesOf(manifestSha256);
    if (!files) throw errors.storage_error('The file list of this version cannot be read at the moment.');
    const [place, earlier] = [await placeOf(em(), deployment), await earlierOf(deployment.site)];
    const { found, read, whole } = await scanVersion(store, { files, earlier, place, beat });
    const rules = await rulesOf(deployment.site, place);
    return await em().transactional(async (tx) => {
      await tx.execute('select 1 from site where id = ? for share', [deployment.site.id]);
      const { hosts } = await placeOf(tx, deployment);
      // A domain was removed meanwhile: its links are external now, so scan again.
      if ([...place.hosts].some((host) => !hosts.has(host))) return { files: 0, flags: 0, busy: true };
      if (rules) await raiseForRules(tx, clock, { site: deployment.site.id, ...rules });
      await raiseFlags(tx, clock, { site: deployment.site.id, deployment: id, of: manifestSha256 }, found);
      await tx.nativeUpdate(Deployment, { id }, { scannedAt: clock.now(), scannedWhole: whole });
      if (config.screenshots && status === 'live') {
        await queueRendering(tx, clock, { id: newId('shot'), deployment, work: { card: true }, asked: false });
        await queueRendering(tx, clock, { id: newId('check'), deployment, work: { paths: null }, asked: false });
      }
      return { files: read, flags: found.length };
    });
  }

  async function scanSketch(id: string, beat: () => void): Promise<ScanResult> {
    const sketch = await em().findOne(Sketch, { id }, { populate: ['hosts'] });
    if (!sketch || sketch.scannedAt || sketch.status !== 'shown') return none;
    const files = sketch.hosts.getItems().flatMap(({ position, sha256 }) => {
      return sha256 ? [{ path: `direction-${position}.html`, sha256, bytes: 0 }] : [];
    });
    const address = new URL(config.edgeUrl);
    const place = { address, hosts: new Set([address.hostname]), platform: new URL(config.baseUrl).host };
    const { found, read } = await scanVersion(store, { files, earlier: [], place, beat });
    await em().transactional(async (tx) => {
      await raiseFlags(tx, clock, { sketch: id, of: id }, found);
      await tx.nativeUpdate(Sketch, { id }, { scannedAt: clock.now() });
    });
    return { files: read, flags: found.length };
  }

  async function accountOf(id: string): Promise<string> {
    if (id.startsWith('sketch_')) return (await em().findOne(Sketch, { id }))?.account.id ?? '';
    return (await em().findOne(Deployment, { id }, { populate: ['site'] }))?.site.account.id ?? '';
  }

  /** One scan at a time in a process: hostile files take long, and other activities share the process. */
  const turns = createFairQueue();

  return {
    async scanFiles(id: string): Promise<ScanResult> {
      const context = Context.current();
      const beat = () => {
        context.heartbeat();
        context.cancellationSignal.throwIfAborted();
      };
      if (!turns.take(id, await accountOf(id))) return { files: 0, flags: 0, busy: true };
      try {
        const scanned = await (id.startsWith('sketch_') ? scanSketch(id, beat) : scanDeployment(id, beat));
        if (scanned.flags > 0)
          deps.log.warn({ scanned: id, ...scanned }, 'files were flagged; list them with `frontage-admin flags list`');
        return scanned;
      } finally {
        turns.end();
      }
    },

    /** Flags a version that no attempt could scan; its files do not count as scanned. */
    async giveUpScan(id: string): Promise<ScanResult> {
      const found = (of: string) => [unscanned(of)];
      const now = clock.now();
      return await em().transactional(async (tx) => {
        if (id.startsWith('sketch_')) {
          if ((await tx.nativeUpdate(Sketch, { id, scannedAt: null }, { scannedAt: now })) === 0) return none;
          await raiseFlags(tx, clock, { sketch: id, of: id }, found(id));
        } else {
          const deployment = await tx.findOne(Deployment, { id });
          const of = deployment?.manifestSha256;
          if (!deployment || !of) return none;
          await lockSiteForKeyShare(tx, deployment.site.id);
          if ((await tx.nativeUpdate(Deployment, { id, scannedAt: null }, { scannedAt: now })) === 0) return none;
          await raiseFlags(tx, clock, { site: deployment.site.id, deployment: id, of }, found(of));
        }
        deps.log.warn(
          { scanned: id },
          'files could not be scanned and were flagged; list them with `frontage-admin flags list`',
        );
        return { files: 0, flags: 1 };
      });
    },
  };
}
