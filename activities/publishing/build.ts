/** The build of one deployment: reads its snapshot, saves its log and output, and puts it live or saves it as a draft. */
import { finished } from 'node:stream/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { nonRetryable } from '#activities/failures.ts';
import { withHeartbeat } from '#activities/heartbeat.ts';
import { Deployment, type Output } from '#db/deployments/deployment.ts';
import { goLive, markStoring, recordOutput } from '#db/deployments/transitions.ts';
import { storeDraft } from '#db/previews/transitions.ts';
import { headersFile, requireUsableHeaders } from '#providers/headers/file.ts';
import { type ManifestFile, renderManifest } from '#providers/manifest.ts';
import { redirectsFile, requireUsableRedirects } from '#providers/redirects/file.ts';
import type { BuildLimits, BuildOutcome, BuildRequest, BuildTimes } from '#providers/sandbox/sandbox.ts';
import type { Limits } from '#rules/limit-names.ts';
import { limitsOf, planLimitsOf } from '#rules/plan-limits.ts';
import { isSettled } from '#rules/states.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { countBuild } from '#runtime/telemetry/metrics.ts';
import { withSpan } from '#runtime/telemetry/spans.ts';
import { type LogWriter, openLogWriter } from './build-log.ts';
import { draftCache, siteCache } from './cache.ts';
import type { BuilderDeps } from './deps.ts';
import { earlierOutput } from './earlier-output.ts';
import { createOutputStorer, heldFiles } from './output.ts';
import { type Drafts, executedBy, snapshotName } from './snapshot.ts';

/** One build of a deployment: its snapshot, its log, what opens its caches, and a function that saves its output. */
type BuildJob = {
  snapshot: string;
  log: LogWriter;
  caches: typeof siteCache;
  save: (files: ManifestFile[], times: Times) => Promise<void>;
};
type FailedBuild = Extract<BuildOutcome, { status: 'failed' }>;
/** Milliseconds of each phase as reported by the sandbox, and of the sandbox as a whole. */
type Times = BuildTimes & { sandbox: number };

/**
 * Builds a version and puts it live, or builds the draft of a preview slot, unless the deployment is settled. Fails with an error code if the
 * site is at fault. The site is live before caches are saved, the sandbox is removed and the workflow's next activity runs.
 */
export async function buildDeployment(deps: BuilderDeps, deploymentId: string): Promise<void> {
  const { info } = Context.current();
  const deployment = await deps.em().findOneOrFail(Deployment, { id: deploymentId }, { populate: ['site'] });
  if (isSettled(deployment.status)) return;
  await withHeartbeat(async () => {
    const log = await openLogWriter(deps, deploymentId, info.attempt);
    try {
      if (deployment.kind === 'draft') await buildDraft(deps, deployment, log);
      else await buildVersion(deps, deployment, log);
    } finally {
      await log.close();
    }
  });
}

async function buildVersion(deps: BuilderDeps, deployment: Deployment, log: LogWriter): Promise<void> {
  const snapshot = snapshotName(deployment.id);
  await runBuild(deps, deployment, {
    snapshot,
    log,
    caches: siteCache,
    async save(files, times) {
      const built = performance.now();
      const [output] = await Promise.all([storeManifest(deps, files), log.close()]);
      await recordOutput(deps.em(), deployment.id, { ...output, image: deps.sandbox.image });
      const stored = performance.now();
      await goLive(deps.em(), deps.clock, deployment.id);
      const ms = rounded({ ...times, store: stored - built, live: performance.now() - stored });
      deps.log.info({ deploymentId: deployment.id, ms }, 'built');
    },
  });
}

/** Builds for the preview slot, and if there are drafts, once more without them for publishing it, unless that was built before. */
async function buildDraft(deps: BuilderDeps, deployment: Deployment, log: LogWriter): Promise<void> {
  const { id } = deployment;
  const hasDrafts = await snapshotExists(deps, snapshotName(id, 'with drafts'));
  const earlier = hasDrafts ? await earlierOutput(deps, deployment) : undefined;
  if (earlier) log.write(`Without drafts, the site is the same as in version ${earlier.number}.\n`);
  const builds: Drafts[] = [];
  if (hasDrafts) builds.push('with drafts');
  if (!earlier) builds.push('without drafts');
  const made: Output[] = [];
  for (const drafts of builds) {
    if (hasDrafts) log.write(`Building ${drafts}.\n`);
    const isLast = drafts === builds.at(-1);
    await runBuild(deps, deployment, {
      snapshot: snapshotName(id, drafts),
      log,
      caches: draftCache,
      async save(files, times) {
        made.push(await storeManifest(deps, files));
        deps.log.info({ deploymentId: id, drafts, ms: rounded(times) }, 'built');
        if (!isLast) return;
        await log.close();
        const [output, publishedOutput = earlier?.output ?? null] = made as [Output, Output?];
        await storeDraft(deps.em(), deps.clock, id, { output, publishedOutput, image: deps.sandbox.image });
      },
    });
  }
}

async function snapshotExists({ store }: BuilderDeps, name: string): Promise<boolean> {
  const snapshot = await store.scratch.read(name);
  snapshot?.destroy();
  return snapshot !== undefined;
}

async function runBuild(deps: BuilderDeps, deployment: Deployment, job: BuildJob): Promise<void> {
  const { info, cancellationSignal } = Context.current();
  const source = await deps.store.scratch.read(job.snapshot);
  if (!source) throw new Error('the snapshot is not in the store');
  const cached = await job.caches(deps, deployment, await executedBy(deps.store, job.snapshot));
  try {
    const outcome = await withSpan('build', async (note) => {
      note({ 'frontage.deployment': deployment.id, 'frontage.attempt': info.attempt });
      const ended = await deps.sandbox.build({
        deploymentId: deployment.id,
        source,
        siteUrl: deployment.siteUrl,
        limits: buildLimits(limitsOf(deps.config, deployment.site, deps.clock.now())),
        signal: cancellationSignal,
        onLog: job.log.write,
        ...outputHandlers(deps, deployment, job, finished(source)),
        ...cached,
      });
      const came = ended.status === 'failed' ? ended.code : ended.status;
      note({ 'frontage.build.outcome': came });
      countBuild(came);
      return ended;
    });
    if (outcome.status === 'failed') throw failureOf(deps, deployment, outcome);
  } finally {
    // A sandbox that could not start a build has not read them.
    source.destroy();
    cached.cache?.destroy();
  }
}

/** A limit error says who can raise the limit. */
function failureOf(deps: BuilderDeps, { site, createdBy }: Deployment, { code, message, limit }: FailedBuild) {
  const by = site.account.id === createdBy.id ? 'owner' : 'collaborator';
  const lift = limit ? ` ${planLimitsOf(deps.config, site, deps.clock.now(), by).lift(limit)}` : '';
  return ApplicationFailure.nonRetryable(message + lift, code);
}

function outputHandlers(
  deps: BuilderDeps,
  deployment: Deployment,
  job: BuildJob,
  sourceRead: Promise<void>,
): Pick<BuildRequest, 'held' | 'onFile' | 'onHeld' | 'onBuilt'> {
  // Not earlier: looking for thousands of files would delay the source, and nothing needs them until the site is built.
  const held = sourceRead.then(() => heldFiles(deps, deployment.site));
  const output = createOutputStorer(deps.store, held);
  let storing: Promise<void> | undefined;
  const from = performance.now();
  const offered = held.then((files) => new Map([...files].map(([sha256, { bytes }]) => [sha256, bytes])));
  offered.catch(() => {}); // A build that ends before it asks has another reason.
  return {
    held: offered,
    onHeld: output.onHeld,
    async onFile(file) {
      if (!storing) {
        storing = markStoring(deps.em(), deployment.id);
        storing.catch(() => {}); // Awaited in onBuilt.
      }
      await output.onFile(file);
    },
    async onBuilt(ms) {
      const sandbox = performance.now() - from;
      const files = await output.all();
      await checkRules(deps, deployment, files);
      await storing;
      await job.save(files, { ...ms, sandbox });
    },
  };
}

function rounded(ms: BuildTimes): BuildTimes {
  return Object.fromEntries(Object.entries(ms).map(([step, time]) => [step, Math.round(time)]));
}

/** Invalid redirects and headers fail the build, like a page that does not compile. */
async function checkRules({ store }: BuilderDeps, { siteUrl }: Deployment, files: ManifestFile[]): Promise<void> {
  const fileOf = (name: string) => files.find(({ path }) => path === name);
  await nonRetryable(() => requireUsableRedirects(store, fileOf(redirectsFile), siteUrl));
  await nonRetryable(() =>
    requireUsableHeaders(store, fileOf(headersFile)).catch((error) => {
      throw error instanceof AppError && error.code === 'invalid_headers' ? errors.build_failed(error.message) : error;
    }),
  );
}

async function storeManifest({ store }: BuilderDeps, files: ManifestFile[]): Promise<Output> {
  const manifest = await store.put(renderManifest(files));
  await store.flush();
  const totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { manifestSha256: manifest.sha256, fileCount: files.length, totalBytes };
}

/** The same on every plan, because warm sandboxes are started ahead with these limits. */
export const containerLimits = { memoryBytes: 2 * 1024 ** 3, cpus: 2, pidsMax: 256 } as const;

function buildLimits({ build_seconds, site_bytes, site_files, file_bytes }: Limits): BuildLimits {
  return {
    ...containerLimits,
    timeoutMs: build_seconds * 1000,
    logBytesMax: 1024 ** 2,
    outputBytesMax: site_bytes,
    outputFilesMax: site_files,
    fileBytesMax: file_bytes,
  };
}
