/** The site's files as the build sees them: the source repository, with the content repository mounted at `src/content/`. */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { contentFolder, printable } from '#providers/paths.ts';
import { bytesOf } from '#providers/repositories/objects.ts';
import { isBranch, type Repositories, type TreeEntry } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

/** The commits that a tree is read from; null if the tree has nothing of that repository. */
export type Commits = { source: string | null; content: string | null };

export type SiteFile = TreeEntry & { repository: Repository };

/** An entry of a folder. A folder's bytes are those of all files below it. */
export type Item = { path: string; kind: 'file' | 'folder'; bytes: number };

/** The commits of a ref: a branch, a deployment, or one commit of one repository. Throws `not_found`. */
export async function resolveRef(
  em: EntityManager,
  repositories: Repositories,
  site: Site,
  ref: string,
): Promise<Commits> {
  if (isId('dep', ref)) {
    const deployment = await em.findOne(Deployment, { id: ref, site });
    if (!deployment) throw noSuchRef();
    return { source: deployment.sourceCommit ?? null, content: deployment.contentCommit ?? null };
  }
  if (/^[0-9a-f]{40}$/.test(ref)) {
    if (await repositories.hasCommit(site.id, 'source', ref)) return { source: ref, content: null };
    if (await repositories.hasCommit(site.id, 'content', ref)) return { source: null, content: ref };
    throw noSuchRef();
  }
  if (!isBranch(ref)) throw noSuchRef();
  const [source, content] = await Promise.all([
    repositories.head(site.id, 'source', ref),
    repositories.head(site.id, 'content', ref),
  ]);
  // A site without a template has no commit at first.
  if (source === null && content === null && ref !== 'main') throw noSuchRef();
  // A slot's branch may exist in one repository only; the other one's `main` is used.
  return {
    source: source ?? (await repositories.head(site.id, 'source')),
    content: content ?? (await repositories.head(site.id, 'content')),
  };
}

function noSuchRef() {
  return errors.not_found('The site has no such branch, deployment or commit.', {
    nextAction: 'Omit ref to read main.',
  });
}

/** Every file of the site under its path in the build, sorted by path. */
export async function readSiteTree(repositories: Repositories, siteId: string, commits: Commits): Promise<SiteFile[]> {
  const read = async (repository: Repository, prefix: string): Promise<SiteFile[]> => {
    const commit = commits[repository];
    const files = commit === null ? [] : await repositories.listTree(siteId, repository, commit);
    return files.map((file) => ({ ...file, path: prefix + file.path, repository }));
  };
  const [source, content] = await Promise.all([read('source', ''), read('content', contentFolder)]);
  return [...source, ...content].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The entries of a folder (or, with `recursive`, every file below it), sorted by path. Empty if there is no such folder. */
export function listFolder(files: readonly SiteFile[], folder: string, recursive: boolean): Item[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const items = new Map<string, Item>();
  for (const { path, bytes } of files) {
    if (!path.startsWith(prefix)) continue;
    const slash = recursive ? -1 : path.indexOf('/', prefix.length);
    const shown = slash === -1 ? path : path.slice(0, slash);
    const item = items.get(shown) ?? { path: shown, kind: slash === -1 ? 'file' : 'folder', bytes: 0 };
    items.set(shown, { ...item, bytes: item.bytes + bytes });
  }
  return [...items.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file's content for JSON: as text if it is text. */
export async function readFile(repositories: Repositories, siteId: string, file: SiteFile) {
  for await (const { content } of repositories.readBlobs(siteId, file.repository, [file.oid])) {
    const bytes = await bytesOf(content);
    const isText = isUtf8(bytes) && !bytes.includes(0);
    return {
      sha256: createHash('sha256').update(bytes).digest('hex'),
      ...(isText ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') }),
    };
  }
  throw new Error('a file in the tree has no content');
}

const severalBytesMax = 1_048_576;

/** Several files by their paths, in this order. Throws `not_found` for one that does not exist, and `plan_limit` over 1 MiB. */
export async function readFiles(
  repositories: Repositories,
  siteId: string,
  { files, commits, paths }: { files: readonly SiteFile[]; commits: Commits; paths: readonly string[] },
) {
  const found = paths.map((path) => files.find((file) => file.path === path) ?? path);
  const missing = found.find((file) => typeof file === 'string');
  if (missing !== undefined) throw errors.not_found(`The site has no file ${printable(missing)}.`);
  const there = found.filter((file) => typeof file !== 'string');
  if (there.reduce((sum, { bytes }) => sum + bytes, 0) > severalBytesMax)
    throw errors.plan_limit('These files have more than 1 MiB in all.', { nextAction: 'Read fewer files at once.' });
  const read = [];
  for (const file of there) {
    const { path, repository, bytes } = file;
    const commit = commits[repository] ?? '';
    read.push({
      path,
      kind: 'file' as const,
      bytes,
      repository,
      commit,
      ...(await readFile(repositories, siteId, file)),
    });
  }
  return read;
}
