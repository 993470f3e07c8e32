/** The build of one deployment: snapshot in, log to the rows, output to the store, and then live. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Config } from '../../config.ts';
import { goLive } from '../../db/deployments.ts';
import { Deployment } from '../../db/entities/deployment.ts';
import { isSettled } from '../../db/states.ts';
import { type ManifestFile, renderManifest } from '../../providers/manifest.ts';
import { redirectsFile, requireUsableRedirects } from '../../providers/redirects/file.ts';
import type { BuildLimits, BuildRequest, BuildTimes } from '../../providers/sandbox/sandbox.ts';
import { asFailure } from '../failures.ts';
import type { BuilderDeps } from '../index.ts';
import { type LogWriter, openLogWriter } from './build-log.ts';
import { siteCache } from './cache.ts';
import { heldFiles, openOutputTaker } from './output.ts';
import { snapshotName } from './snapshot.ts';

/**
 * Builds and puts live, unless the deployment has ended meanwhile. Fails with a code of the catalog where the site is at fault. Visitors
 * wait for nothing that can be done after: the caches, the sandbox's end, and the workflow's next step, which finds all done.
 */
export async function buildDeployment(deps: BuilderDeps, deploymentId: string): Promise<void> {
  const context = Context.current();
  const deployment = await deps.em().findOneOrFail(Deployment, { id: deploymentId }, { populate: ['site'] });
  if (isSettled(deployment.status)) return;
  const source = await deps.store.scratch.read(snapshotName(deploymentId));
  if (!source) throw new Error('the snapshot is not in the store');

  const beat = setInterval(() => context.heartbeat(), 1000);
  const log = await openLogWriter(deps, deploymentId, context.info.attempt).catch((error) => {
    clearInterval(beat);
    source.destroy();
    throw error;
  });
  try {
    const outcome = await deps.sandbox.build({
      deploymentId,
      attempt: context.info.attempt,
      source,
      siteUrl: deployment.siteUrl,
      limits: buildLimits(deps.config),
      signal: context.cancellationSignal,
      onLog: log.write,
      ...takeOutput(deps, deployment, log),
      ...(await siteCache(deps, deployment)),
    });
    if (outcome.status === 'failed') throw ApplicationFailure.nonRetryable(outcome.message, outcome.code);
  } finally {
    clearInterval(beat);
    source.destroy();
    await log.close();
  }
}

function takeOutput(
  deps: BuilderDeps,
  deployment: Deployment,
  log: LogWriter,
): Pick<BuildRequest, 'held' | 'onFile' | 'onHeld' | 'onBuilt'> {
  const held = heldFiles(deps, deployment.site);
  const output = openOutputTaker(deps.store, held);
  let storing: Promise<void> | undefined;
  const from = performance.now();
  const offered = held.then((files) => new Map([...files].map(([sha256, { bytes }]) => [sha256, bytes])));
  offered.catch(() => {}); // A build that ends before it asks has another reason.
  return {
    held: offered,
    onHeld: output.onHeld,
    async onFile(file) {
      if (!storing) {
        storing = setStoring(deps, deployment.id);
        storing.catch(() => {}); // Who keeps the manifest meets it.
      }
      await output.onFile(file);
    },
    async onBuilt(ms) {
      const built = performance.now();
      const files = await output.all();
      await checkRedirects(deps, deployment, files);
      await Promise.all([keepManifest(deps, deployment.id, files, storing), log.close()]);
      const stored = performance.now();
      await goLive(deps.em(), deps.clock, deployment.id);
      const all = { ...ms, sandbox: built - from, store: stored - built, live: performance.now() - stored };
      deps.log.info({ deploymentId: deployment.id, ms: rounded(all) }, 'built');
    },
  };
}

function rounded(ms: BuildTimes): BuildTimes {
  return Object.fromEntries(Object.entries(ms).map(([step, time]) => [step, Math.round(time)]));
}

/** What the site would send its visitors to is its own fault, as a page that does not build. */
async function checkRedirects({ store }: BuilderDeps, { siteUrl }: Deployment, files: ManifestFile[]): Promise<void> {
  const file = files.find(({ path }) => path === redirectsFile);
  await asFailure(() => requireUsableRedirects(store, file, siteUrl));
}

async function setStoring(deps: BuilderDeps, deploymentId: string): Promise<void> {
  await deps
    .em()
    .execute(`update deployment set status = 'storing' where id = ? and status = 'building'`, [deploymentId]);
}

async function keepManifest(
  deps: BuilderDeps,
  deploymentId: string,
  files: ManifestFile[],
  storing: Promise<void> | undefined,
): Promise<void> {
  const manifest = await deps.store.put(renderManifest(files));
  await Promise.all([deps.store.flush(), storing]);
  const totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
  await deps
    .em()
    .execute(
      `update deployment set manifest_sha256 = ?, file_count = ?, total_bytes = ?, image = ? where id = ? and status in ('building', 'storing')`,
      [manifest.sha256, files.length, totalBytes, deps.sandbox.image, deploymentId],
    );
}

export function buildLimits({ limits }: Config): BuildLimits {
  const { build_seconds, site_bytes, site_files, file_bytes } = limits;
  return {
    timeoutMs: build_seconds * 1000,
    memoryBytes: 2 * 1024 ** 3,
    cpus: 2,
    pidsMax: 256,
    logBytesMax: 1024 ** 2,
    outputBytesMax: site_bytes,
    outputFilesMax: site_files,
    fileBytesMax: file_bytes,
  };
}
