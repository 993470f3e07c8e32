/** The manifest of an upload, which arrives in parts. */

import { type Actor, loadDeployment, roleOf } from '#api/access.ts';
import { hashArray, textArray } from '#db/arrays.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { printable } from '#providers/paths.ts';
import { type PlanLimits, planLimitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { knownBlobsOf } from './known-blobs.ts';
import { servedPathError } from './paths.ts';
import { requireOpenUpload } from './rules.ts';

export const filesAtOnceMax = 5_000;

export type NamedFile = { path: string; sha256: string; bytes: number };

/**
 * Adds files to the manifest, all or none. Returns the hashes whose bytes must be sent.
 * Throws `invalid_manifest`, `invalid_path`, `plan_limit`, `not_accepting_uploads`, `superseded`.
 */
export async function nameFiles(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  deploymentId: string,
  files: readonly NamedFile[],
): Promise<string[]> {
  const deployment = await loadDeployment(em, actor, deploymentId);
  requireOpenUpload(deployment, deps.clock.now());
  const planLimits = planLimitsOf(deps.config, deployment.site, deps.clock.now(), roleOf(deployment.site, actor));
  const bytesOf = validateFiles(files, planLimits);
  const known = await knownBlobsOf(em, deps, actor, deployment.site, [...bytesOf.keys()]);
  for (const [sha256, bytes] of known) {
    if (bytesOf.get(sha256) !== bytes) throw wrongLength(sha256, bytesOf.get(sha256) ?? 0, bytes);
  }
  await em.transactional(async (tx) => {
    // Only the deployment's row: opening or completing an upload locks the site first.
    await tx.execute('select 1 from deployment where id = ? for no key update', [deploymentId]);
    requireOpenUpload(
      await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true, populate: ['site'] }),
      deps.clock.now(),
    );
    await requireNewPaths(tx, deploymentId, files);
    const named = await namedHashes(tx, deploymentId, [...bytesOf.keys()]);
    for (const [sha256, { bytes }] of named) {
      if (bytesOf.get(sha256) !== bytes) throw wrongLength(sha256, bytesOf.get(sha256) ?? 0, bytes);
    }
    await requireOutputLimits(tx, planLimits, deploymentId, files);
    // Bytes for an earlier part may have arrived after the blobs were looked up.
    await insertFiles(tx, deploymentId, files, (sha256) => !known.has(sha256) && !named.get(sha256)?.came);
  });
  return [...bytesOf.keys()].filter((sha256) => !known.has(sha256));
}

/** The hashes of these files whose bytes have not arrived yet. */
export async function stillMissing(
  em: EntityManager,
  actor: Actor,
  deploymentId: string,
  files: readonly NamedFile[],
): Promise<string[]> {
  const { id } = await loadDeployment(em, actor, deploymentId);
  const missing = new Set(await missingOf(em, id));
  return [...new Set(files.map(({ sha256 }) => sha256))].filter((sha256) => missing.has(sha256));
}

/** Hashes of the manifest whose bytes have not arrived yet, at most `limit` of them. */
export async function missingOf(em: EntityManager, deploymentId: string, limit = 100_000): Promise<string[]> {
  const rows = await em.execute<{ sha256: string }[]>(
    `select distinct encode(sha256, 'hex') as sha256 from upload_file where deployment_id = ? and missing
     order by sha256 limit ?`,
    [deploymentId, limit],
  );
  return rows.map(({ sha256 }) => sha256);
}

/** Validates the files of one call on their own. Returns the length of each hash. */
function validateFiles(files: readonly NamedFile[], { limits, lift }: PlanLimits): Map<string, number> {
  if (files.length === 0) throw invalid('The manifest is empty.');
  if (files.length > filesAtOnceMax) {
    throw invalid(
      `One call accepts up to ${filesAtOnceMax} files, but this one contains ${files.length}.`,
      'Send the manifest in parts.',
    );
  }
  const paths = new Set<string>();
  const bytesOf = new Map<string, number>();
  for (const { path, sha256, bytes } of files) {
    const error = servedPathError(path);
    if (error) throw error;
    if (paths.has(path)) throw twice(path);
    paths.add(path);
    if (bytes > limits.file_bytes) {
      throw errors.plan_limit(`${printable(path)} has ${bytes} bytes; the limit for a file is ${limits.file_bytes}.`, {
        nextAction: `Make the file smaller. ${lift('file_bytes')}`,
      });
    }
    const other = bytesOf.get(sha256);
    if (other !== undefined && other !== bytes) throw wrongLength(sha256, bytes, other);
    bytesOf.set(sha256, bytes);
  }
  return bytesOf;
}

// Earlier parts are queried by arrays. The planner has no statistics for a deployment in progress and assumes a row or two:
// joined with the lists of a part, 20,000 files took minutes.

async function requireNewPaths(tx: EntityManager, deploymentId: string, files: readonly NamedFile[]): Promise<void> {
  const [known] = await tx.execute<{ path: string }[]>(
    'select path from upload_file where deployment_id = ? and path = any(?::text[]) limit 1',
    [deploymentId, textArray(files.map(({ path }) => path))],
  );
  if (known) throw twice(known.path);
}

type NamedHash = { bytes: number; came: boolean };

/** The hashes that earlier parts named, and whether their bytes have arrived. */
async function namedHashes(
  tx: EntityManager,
  deploymentId: string,
  hashes: readonly string[],
): Promise<Map<string, NamedHash>> {
  const rows = await tx.execute<{ sha256: string; bytes: string; came: boolean }[]>(
    `select encode(sha256, 'hex') as sha256, min(bytes) as bytes, bool_or(came) as came
     from upload_file where deployment_id = ? and sha256 = any(?::bytea[]) group by upload_file.sha256`,
    [deploymentId, hashArray(hashes)],
  );
  return new Map(rows.map(({ sha256, bytes, came }) => [sha256, { bytes: Number(bytes), came }]));
}

async function requireOutputLimits(
  tx: EntityManager,
  { limits, lift }: PlanLimits,
  deploymentId: string,
  files: readonly NamedFile[],
): Promise<void> {
  const [before] = await tx.execute<[{ files: string; bytes: string }]>(
    'select count(*) as files, coalesce(sum(bytes), 0) as bytes from upload_file where deployment_id = ?',
    [deploymentId],
  );
  const count = Number(before.files) + files.length;
  const bytes = files.reduce((sum, file) => sum + file.bytes, Number(before.bytes));
  if (count > limits.site_files) {
    throw errors.plan_limit(`The manifest has ${count} files; the limit for a site is ${limits.site_files}.`, {
      nextAction: `Make the site smaller. ${lift('site_files')}`,
    });
  }
  if (bytes > limits.site_bytes) {
    throw errors.plan_limit(`The manifest has ${bytes} bytes; the limit for a site is ${limits.site_bytes}.`, {
      nextAction: `Make the site smaller. ${lift('site_bytes')}`,
    });
  }
}

async function insertFiles(
  tx: EntityManager,
  deploymentId: string,
  files: readonly NamedFile[],
  isMissing: (sha256: string) => boolean,
): Promise<void> {
  const rows = files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes, missing: isMissing(sha256) }));
  await tx.execute(
    `insert into upload_file (deployment_id, path, sha256, bytes, missing)
     select ?, file.path, decode(file.sha256, 'hex'), file.bytes, file.missing
     from jsonb_to_recordset(?::jsonb) as file(path text, sha256 text, bytes bigint, missing boolean)`,
    [deploymentId, JSON.stringify(rows)],
  );
}

function twice(path: string) {
  return invalid(
    `The manifest contains ${printable(path)} twice.`,
    'Send each path only once across all manifest calls for this deployment.',
  );
}

function wrongLength(sha256: string, said: number, bytes: number) {
  return invalid(
    `The manifest says that the file with the hash ${sha256.slice(0, 12)}… has ${said} bytes, but it has ${bytes}.`,
  );
}

function invalid(message: string, nextAction = 'Correct the manifest and send this part again.') {
  return errors.invalid_manifest(message, { nextAction });
}
