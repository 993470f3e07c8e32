/** A site's pictures, fonts and documents: one file at a time, without git. */

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type Actor, loadSite, requireActive, roleOf } from '#api/access.ts';
import { recheckAuthorization } from '#api/plugins/bearer.ts';
import { recorded } from '#api/source/commit-records.ts';
import { requireRepositories, rulesFor, writeChanges, writeRows } from '#api/source/commits.ts';
import { receiveUpload, storeBlob } from '#api/source/upload-stream.ts';
import { requireName } from '#api/source/validation.ts';
import { Asset } from '#db/assets/asset.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { placeOf } from '#git/rules/formats.ts';
import { contentFolder, printable } from '#providers/paths.ts';
import type { TreeEntry } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import { type ByteRange, type Conditions, evaluateConditions } from '#rules/http-conditions.ts';
import { type PlanLimits, planLimitsOf } from '#rules/plan-limits.ts';
import type { AssetSource } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** A file of the site as it is now. */
export type AssetFile = { path: string; oid: string; bytes: number; sha256: string };

export type NewAsset = {
  path: string;
  body: Readable;
  /** `If-Match`: the version that the client expects. */
  expected?: string | undefined;
};

/**
 * Writes one streamed file as one commit of the caller. Writing the same bytes again changes nothing. Throws `stale_hash` if others changed
 * the file meanwhile, `plan_limit` over the limit for a file, `rate_limited`, and the codes of the push rules.
 */
export async function putAsset(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { path, body, expected }: NewAsset,
): Promise<Asset> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  requireAssetPath(path);
  const by = roleOf(site, actor);
  requireName(rulesFor(deps, site, 'source', by), path);
  const known = await fileAt(deps, site, path);
  if (expected !== undefined && !(await matches(deps, site, known, expected))) throw changed(path);
  const planLimits = planLimitsOf(deps.config, site, deps.clock.now(), by);
  const tooLarge = () => exceedsFileLimit(path, planLimits);
  await using file = await receiveUpload(deps, body, { bytesMax: planLimits.limits.file_bytes, tooLarge });
  // The upload may have taken minutes.
  const current = deps.em();
  await recheckAuthorization(current, deps, actor);
  requireActive(await loadSite(current, actor, siteId));
  return await storeAsset(em, deps, site, {
    actor,
    path,
    content: await storeBlob(em, deps, { site, by, path }, file),
    known,
    source: 'api',
    message: `${known ? 'Change' : 'Add'} ${path}`,
  });
}

type Storing = {
  actor: Actor;
  path: string;
  content: Awaited<ReturnType<typeof storeBlob>>;
  /** The file at that path when the call began. */
  known: TreeEntry | undefined;
  source: AssetSource;
  message: string;
  beside?: { path: string; content: Awaited<ReturnType<typeof storeBlob>> }[];
};

/** Commits bytes that are already validated and stored, with the files that belong to them. */
export async function storeAsset(em: EntityManager, deps: Deps, site: Site, storing: Storing): Promise<Asset> {
  const { actor, path, content, known, source, message, beside = [] } = storing;
  const { filesChanged } = await writeChanges(em, deps, {
    site,
    repository: 'source',
    message,
    by: actor,
    source,
    plan(files) {
      const now = files.get(path)?.oid;
      if (now !== known?.oid && now !== content.oid) throw changed(path);
      return [{ path, content }, ...beside];
    },
  });
  if (filesChanged === 0) await recorded(deps, writeRows(em, deps, site.id, source, [{ path, content }]));
  return await em.findOneOrFail(Asset, { site, path, oid: content.oid }, { refresh: true });
}

/** A file under `src/assets/`, `src/static/` or `public/`, whether it was added by a call or by git. Throws `not_found`. */
export async function readAsset(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  path: string,
): Promise<AssetFile> {
  const site = await loadSite(em, actor, siteId);
  const file = placeOf('source', path) ? await fileAt(deps, site, path) : undefined;
  if (!file || path.startsWith(contentFolder)) {
    throw errors.not_found('The site has no such file under src/assets/, src/static/ or public/.', {
      nextAction: `Call ${call('source.files', { id: site, path: 'src/assets' })} to list the existing files.`,
    });
  }
  return { path, oid: file.oid, bytes: file.bytes, sha256: await hashOf(deps, site, file.oid) };
}

/** The file that `main` has at the path. */
export async function fileAt(deps: Deps, site: Site, path: string): Promise<TreeEntry | undefined> {
  return (await filesOf(deps, site)).get(path);
}

async function filesOf(deps: Deps, site: Site): Promise<Map<string, TreeEntry>> {
  const repositories = requireRepositories(deps);
  const head = await repositories.head(site.id, 'source');
  const files = head === null ? [] : await repositories.listTree(site.id, 'source', head);
  return new Map(files.map((file) => [file.path, file]));
}

/** Rows of files that were added without git and are unchanged in the repository, newest first. */
export async function assetsOf(em: EntityManager, deps: Deps, site: Site) {
  const files = await filesOf(deps, site);
  const isUnchanged = ({ path, oid }: Asset) => files.get(path)?.oid === oid;
  return async (after: string | undefined, limit: number): Promise<Asset[]> => {
    const found: Asset[] = [];
    for (let last = after; ; ) {
      const older = last === undefined ? { site } : { site, id: { $lt: last } };
      const rows = await em.find(Asset, older, { orderBy: { id: 'desc' }, limit });
      found.push(...rows.filter(isUnchanged));
      if (found.length >= limit || rows.length < limit) return found.slice(0, limit);
      last = rows.at(-1)?.id;
    }
  };
}

/** The bytes of a blob of the source repository, or a part of them. */
export async function* bytesOfBlob(deps: Deps, siteId: string, oid: string, part?: ByteRange): AsyncGenerator<Buffer> {
  const { start, end } = part ?? { start: 0, end: Number.POSITIVE_INFINITY };
  let at = 0;
  for await (const { content } of requireRepositories(deps).readBlobs(siteId, 'source', [oid])) {
    for await (const chunk of content) {
      const wanted = chunk.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
      at += chunk.length;
      if (wanted.length > 0) yield wanted;
      if (at > end) return;
    }
  }
}

/** What a read with these conditions sends. Throws `stale_hash` and `invalid_range`. */
export function evaluateRead(file: AssetFile, conditions: Conditions): { status: 200 | 206 | 304; part?: ByteRange } {
  const outcome = evaluateConditions(conditions, `"${file.sha256}"`, file.bytes);
  switch (outcome.status) {
    case 412:
      throw errors.stale_hash(`${printable(file.path)} has changed: its present hash is ${file.sha256}.`, {
        nextAction: 'Read the file again without If-Match.',
      });
    case 416:
      throw errors.invalid_range(`${printable(file.path)} has ${file.bytes} bytes, and the range begins after them.`);
    case 206:
      return { status: 206, part: outcome.range };
    default:
      return { status: outcome.status };
  }
}

async function hashOf(deps: Deps, site: Site, oid: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of bytesOfBlob(deps, site.id, oid)) hash.update(chunk);
  } catch (error) {
    if (await requireRepositories(deps).hasBlob(site.id, 'source', oid)) throw error;
    throw errors.missing_asset('The contents of this file are missing from storage.', {
      nextAction: 'Send the same file again to restore it.',
      cause: error,
    });
  }
  return hash.digest('hex');
}

async function matches(deps: Deps, site: Site, file: TreeEntry | undefined, expected: string): Promise<boolean> {
  if (!file) return false;
  if (expected === '*') return true;
  const hash = await hashOf(deps, site, file.oid);
  return expected.split(',').some((one) => one.trim() === `"${hash}"`);
}

/** Throws `invalid_path` for a path outside the folders for single files. */
export function requireAssetPath(path: string, folders = ['src/assets/', 'src/static/', 'public/']): void {
  if (folders.some((folder) => path.startsWith(folder) && path.length > folder.length)) return;
  throw errors.invalid_path(`${printable(path) || 'The path'} is not a path under ${folders.join(' or ')}.`, {
    nextAction: `Choose a path under ${folders.join(' or ')}. Add other files with git or ${call('source.commit')}.`,
  });
}

export function exceedsFileLimit(path: string, { limits, lift }: PlanLimits): AppError {
  const bytesMax = limits.file_bytes;
  const size = bytesMax >= 1_048_576 ? `${Math.floor(bytesMax / 1_048_576)} MiB` : `${bytesMax} bytes`;
  return errors.plan_limit(`${printable(path)} is larger than ${size}, the limit for one file.`, {
    nextAction: `Reduce its size and send it again. ${lift('file_bytes')}`,
  });
}

function changed(path: string): AppError {
  return errors.stale_hash(`${printable(path)} has changed since you read it, so your version was not saved.`, {
    nextAction: 'Read the file again, then send your version if it should still replace the file.',
  });
}
