/** Uploads of built output: created, checked against their stage, and made live when complete. */

import { type Actor, loadDeployment, loadSite, lockChangeable, requireChangeable } from '#api/access.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import { acceptOutput, completeOutput } from '#db/deployments/output.ts';
import { goLive, settle } from '#db/deployments/transitions.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { headersFile, requireUsableHeaders } from '#providers/headers/file.ts';
import { type ManifestFile, renderManifest } from '#providers/manifest.ts';
import { printable } from '#providers/paths.ts';
import { redirectsFile, requireUsableRedirects } from '#providers/redirects/file.ts';
import type { Encoding } from '#providers/store/store.ts';
import { call } from '#rules/calls/calls.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import { isRestorable } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';

const uploadMs = dayMs;

/** Creates an upload; the site's oldest uploads beyond the limit are expired. Throws `site_archived`, `rate_limited`. */
export async function startUpload(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, siteId }: { id: string; siteId: string },
): Promise<Deployment> {
  const site = await loadSite(em, actor, siteId);
  requireChangeable(site);
  const endsAt = new Date(deps.clock.now().getTime() + uploadMs);
  const { address: siteUrl } = await canonicalUrl(em, deps.config, site);
  return await em.transactional(async (tx) => {
    const upload = { id, siteUrl, createdBy: actor, uploadEndsAt: endsAt };
    const locked = await lockChangeable(tx, siteId);
    const atOnceMax = limitsOf(deps.config, locked, deps.clock.now()).uploads_under_way;
    const deployment = await acceptOutput(tx, deps, locked, upload, atOnceMax);
    recordAct(tx, deps.clock, actor, 'deployment.created', { site: locked, ...versionOf(deployment) });
    return deployment;
  });
}

/** The deployment as the subject of an act. */
export const versionOf = ({ id, number }: Deployment) => ({ subject: { id, name: `version ${number}` } });

/** Throws for a deployment that does not accept files, or no longer does. */
export function requireOpenUpload(deployment: Deployment, now: Date): void {
  requireChangeable(deployment.site);
  const { status, uploadEndsAt, number, startedAt } = deployment;
  if (status === 'superseded') throw supersededError(deployment);
  const isOver = uploadEndsAt === null || uploadEndsAt === undefined || uploadEndsAt <= now;
  if (status === 'uploading' && !isOver && !startedAt) return;
  const why = whyClosed(deployment, isOver);
  throw errors.not_accepting_uploads(`Version ${number} ${why} and does not accept files.`, {
    nextAction: startAgain(deployment),
  });
}

function whyClosed({ kind, status }: Deployment, isOver: boolean): string {
  if (kind !== 'upload') return 'was built from source';
  if (status !== 'uploading') return `is ${status}`;
  return isOver ? 'has expired' : 'is being completed';
}

/**
 * Makes the upload live by moving the pointer once. Repeated, it returns the same.
 * Throws `upload_incomplete`, `invalid_manifest` (nothing was named), `invalid_redirects`, `invalid_headers`, `not_accepting_uploads`, `superseded`.
 */
export async function completeUpload(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  deploymentId: string,
): Promise<Deployment> {
  const deployment = await loadDeployment(em, actor, deploymentId);
  if (deployment.kind === 'upload' && isRestorable(deployment)) return deployment;
  // Resumes a completion whose process died.
  requireOpenUpload({ ...deployment, startedAt: null }, deps.clock.now());
  await requireAll(em, deploymentId);
  await requireSafe(em, deps, actor, deployment);
  if (!(await completeOutput(em, deps.clock, deploymentId))) {
    return await completeUpload(deps.em(), deps, actor, deploymentId);
  }
  const files = await filesOf(em, deployment);
  await requireRules(deps, deployment, files);
  await saveManifest(em, deps, deploymentId, files);
  const live = await goLive(deps.em(), deps.clock, deploymentId, {
    record: (tx, site) => recordAct(tx, deps.clock, actor, 'deployment.completed', { site, ...versionOf(deployment) }),
  });
  if (!isRestorable(live)) requireOpenUpload(live, deps.clock.now());
  return live;
}

async function requireAll(em: EntityManager, deploymentId: string): Promise<void> {
  const [state] = await em.execute<[{ named: boolean; missing: boolean }]>(
    `select exists(select 1 from upload_file where deployment_id = ?) as named,
       exists(select 1 from upload_file where deployment_id = ? and missing) as missing`,
    [deploymentId, deploymentId],
  );
  if (!state.named) {
    throw errors.invalid_manifest('This version has no manifest.', {
      nextAction: `Send its files with ${call('deployment.manifest', { id: deploymentId })}.`,
    });
  }
  if (!state.missing) return;
  const [{ files, path }] = await em.execute<[{ files: string; path: string }]>(
    'select count(*) as files, min(path) as path from upload_file where deployment_id = ? and missing',
    [deploymentId],
  );
  throw errors.upload_incomplete(missingFiles(Number(files), printable(path)), {
    nextAction: `Call ${call('deployment.read', { id: deploymentId })} to list the missing files, and send each with ${call('deployment.send_file', { id: deploymentId })}.`,
  });
}

function missingFiles(count: number, first: string): string {
  return count === 1 ? `1 file is missing: ${first}.` : `${count} files are missing, starting with ${first}.`;
}

/**
 * Bytes that arrived with this version, or with an incomplete upload to this site or one of the caller's, are synced to disk before the version
 * refers to them, whichever process received them. Bytes that were lost in a power failure are requested again.
 */
async function requireSafe(
  em: EntityManager,
  { store }: Deps,
  { accountId }: Actor,
  { id: deploymentId, site }: Deployment,
): Promise<void> {
  const came = await em.execute<{ sha256: string; bytes: string }[]>(
    `select distinct encode(sha256, 'hex') as sha256, bytes from upload_file where deployment_id = ? and (came or sha256 in
       (select sha256 from upload_file where came and deployment_id in
         (select deployment.id from deployment join site on site.id = site_id
          where (site.id = ? or site.account_id = ?) and manifest_sha256 is null)))`,
    [deploymentId, site.id, accountId],
  );
  const hashes = came.map(({ sha256 }) => sha256);
  await store.flush(hashes);
  const sizes = await store.sizes(hashes);
  const lost = came.filter(({ sha256, bytes }) => sizes.get(sha256) !== Number(bytes));
  if (lost.length === 0) return;
  await em.execute(
    `update upload_file set missing = true from jsonb_array_elements_text(?::jsonb) as lost(sha256)
     where deployment_id = ? and upload_file.sha256 = decode(lost.sha256, 'hex')`,
    [JSON.stringify(lost.map(({ sha256 }) => sha256)), deploymentId],
  );
  await requireAll(em, deploymentId);
}

async function filesOf(em: EntityManager, { id, site }: Deployment): Promise<ManifestFile[]> {
  const rows = await em.transactional(async (tx) => {
    // The rows are too new for the planner's statistics: it would choose a nested loop, with 20,000 index scans.
    await tx.execute('set local enable_nestloop = off');
    return await tx.execute<{ path: string; sha256: string; bytes: string; encodings: Encoding[] }[]>(
      `select file.path, encode(file.sha256, 'hex') as sha256, file.bytes, held.encodings
       from upload_file file join held_file held on held.sha256 = file.sha256
       where file.deployment_id = ? and held.site_id = ?`,
      [id, site.id],
    );
  });
  return rows.map(({ path, sha256, bytes, encodings }) => ({
    path,
    sha256,
    bytes: Number(bytes),
    encodings: encodings.filter((encoding) => encoding !== 'identity'),
  }));
}

/** A manifest cannot be changed, so a version with invalid redirects or headers has failed. */
async function requireRules(deps: Deps, { id, siteUrl, site }: Deployment, files: ManifestFile[]): Promise<void> {
  const fileOf = (name: string) => files.find(({ path }) => path === name);
  try {
    await requireUsableRedirects(deps.store, fileOf(redirectsFile), siteUrl);
    await requireUsableHeaders(deps.store, fileOf(headersFile));
  } catch (cause) {
    const code = cause instanceof AppError ? cause.code : undefined;
    if (!(cause instanceof AppError) || (code !== 'invalid_redirects' && code !== 'invalid_headers')) throw cause;
    const error = errors[code](cause.message, {
      nextAction: `Fix the file, and start a new upload with ${call('deployment.create', { id: site })}. All other files are already stored.`,
    });
    await settle(deps.em(), deps, id, { status: 'failed', error: error.toBody() });
    throw error;
  }
}

async function saveManifest(em: EntityManager, { store }: Deps, id: string, files: ManifestFile[]): Promise<void> {
  const { sha256 } = await store.put(renderManifest(files));
  await store.flush();
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  await em.execute(
    `update deployment set manifest_sha256 = ?, file_count = ?, total_bytes = ?, files_listed = true
     where id = ? and status = 'uploading'`,
    [sha256, files.length, bytes, id],
  );
}

function supersededError(deployment: Deployment): AppError {
  const newer = deployment.supersededById ? ` (${deployment.supersededById})` : '';
  return errors.superseded(
    `A newer version${newer} went live while version ${deployment.number} was being completed.`,
    {
      nextAction: startAgain(deployment),
    },
  );
}

function startAgain({ site }: Deployment): string {
  return `Start a new upload with ${call('deployment.create', { id: site })}. Files that are already stored do not need to be sent again.`;
}
