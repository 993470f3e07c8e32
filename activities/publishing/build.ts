/** The build of one deployment: snapshot in, log to the rows, output to the store, manifest on the row. */

import type { Readable } from 'node:stream';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { appendLog, clearLog } from '../../db/build-log.ts';
import { Deployment } from '../../db/entities/deployment.ts';
import { isSettled } from '../../db/states.ts';
import { AppError } from '../../errors.ts';
import { type ManifestFile, renderManifest } from '../../providers/manifest.ts';
import { isCompressible } from '../../providers/media-types.ts';
import { redirectsFile, requireUsableRedirects } from '../../providers/redirects/file.ts';
import type { BuildLimits } from '../../providers/sandbox/sandbox.ts';
import type { BuilderDeps } from '../index.ts';
import { snapshotName } from './snapshot.ts';

const logFlushMs = 200;

/** Builds, unless the deployment has ended meanwhile. Fails with a code of the catalog where the site is at fault. */
export async function buildDeployment(deps: BuilderDeps, deploymentId: string): Promise<void> {
  const context = Context.current();
  const deployment = await deps.em().findOneOrFail(Deployment, { id: deploymentId });
  if (isSettled(deployment.status)) return;
  const source = await deps.store.scratch.read(snapshotName(deploymentId));
  if (!source) throw new Error('the snapshot is not in the store');

  const beat = setInterval(() => context.heartbeat(), 1000);
  const log = await openLogWriter(deps, deploymentId, context.info.attempt).catch((error) => {
    clearInterval(beat);
    source.destroy();
    throw error;
  });
  const files: ManifestFile[] = [];
  try {
    const outcome = await deps.sandbox.build({
      deploymentId,
      attempt: context.info.attempt,
      source,
      siteUrl: deployment.siteUrl,
      limits: buildLimits(deps),
      signal: context.cancellationSignal,
      onLog: log.write,
      onFile: async (file) => {
        if (files.length === 0) await setStoring(deps, deploymentId);
        files.push(await storeFile(deps, file));
      },
    });
    await log.close();
    if (outcome.status === 'failed') throw ApplicationFailure.nonRetryable(outcome.message, outcome.code);
    await checkRedirects(deps, deployment, files);
    await keepManifest(deps, deploymentId, files);
  } finally {
    clearInterval(beat);
    source.destroy();
    await log.close();
  }
}

async function storeFile(deps: BuilderDeps, file: { path: string; content: Readable }): Promise<ManifestFile> {
  const { sha256, bytes, encodings } = await deps.store.put(file.content, { compress: isCompressible(file.path) });
  const variants = encodings.filter((encoding) => encoding !== 'identity');
  return { path: file.path, sha256, bytes, ...(variants.length ? { encodings: variants } : {}) };
}

/** What the site would send its visitors to is its own fault, as a page that does not build. */
async function checkRedirects({ store }: BuilderDeps, { siteUrl }: Deployment, files: ManifestFile[]): Promise<void> {
  const file = files.find(({ path }) => path === redirectsFile);
  await requireUsableRedirects(store, file, siteUrl).catch((error) => {
    if (error instanceof AppError && !error.retryable) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  });
}

async function setStoring(deps: BuilderDeps, deploymentId: string): Promise<void> {
  await deps
    .em()
    .execute(`update deployment set status = 'storing' where id = ? and status = 'building'`, [deploymentId]);
}

async function keepManifest(deps: BuilderDeps, deploymentId: string, files: ManifestFile[]): Promise<void> {
  const manifest = await deps.store.put(renderManifest(files));
  await deps.store.flush();
  const totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
  await deps
    .em()
    .execute(
      `update deployment set manifest_sha256 = ?, file_count = ?, total_bytes = ?, image = ? where id = ? and status in ('building', 'storing')`,
      [manifest.sha256, files.length, totalBytes, deps.sandbox.image, deploymentId],
    );
}

function buildLimits({ config }: BuilderDeps): BuildLimits {
  const { build_seconds, site_bytes, site_files, file_bytes } = config.limits;
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

/** Gathers what is printed and writes it a few times a second, in order. */
async function openLogWriter(deps: BuilderDeps, deploymentId: string, attempt: number) {
  const em = deps.em();
  await clearLog(em, deploymentId);
  let pending = attempt > 1 ? 'The machine that built this site went away; the build begins again.\n' : '';
  // Each attempt counts on from where no earlier one can be, so that followers miss nothing.
  let seq = (attempt - 1) * 1_000_000;
  let writing = Promise.resolve();
  const flush = () => {
    if (!pending) return;
    const text = pending;
    pending = '';
    const at = seq++;
    writing = writing
      .then(() => appendLog(em, deploymentId, at, text))
      .catch((error) => deps.log.warn({ err: error, deploymentId }, 'a piece of the build log is lost'));
  };
  const timer = setInterval(flush, logFlushMs);
  return {
    write(text: string) {
      pending += text;
    },
    async close() {
      clearInterval(timer);
      flush();
      await writing;
    },
  };
}
