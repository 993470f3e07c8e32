/** The source of a build: both trees at their pinned commits as one tar, content mounted at `src/content/`, drafts taken out. */
import { Readable } from 'node:stream';
import { type Pack, pack } from 'tar-stream';
import type { Repository } from '../../db/states.ts';
import { errors } from '../../errors.ts';
import { contentFolder } from '../../providers/paths.ts';
import { redirectsFile } from '../../providers/redirects/file.ts';
import { bytesOf } from '../../providers/repositories/objects.ts';
import type { Repositories } from '../../providers/repositories.ts';
import type { Store } from '../../providers/store/store.ts';
import { isDraft, mayBeDraft, UnreadableFrontMatter } from './drafts.ts';

/** The build copies `public/` as it is, so the rules reach the output under their own name. */
const redirectsMount = `public/${redirectsFile}`;

/** Under which name the snapshot of a deployment waits in the store for its build. */
export function snapshotName(deploymentId: string): string {
  return `${deploymentId}.tar`;
}

export type SnapshotCommits = { siteId: string; sourceCommit: string; contentCommit: string | null };

/** Writes the snapshot to the store's scratch. Throws `build_failed` where a post does not let itself be read. */
export async function writeSnapshot(
  store: Store,
  repositories: Repositories,
  name: string,
  commits: SnapshotCommits,
  signal: AbortSignal,
): Promise<void> {
  const tar = pack();
  const stored = store.scratch.put(name, Readable.from(tar, { objectMode: false }));
  stored.catch(() => tar.destroy());
  try {
    await addTree(tar, repositories, commits.siteId, 'source', commits.sourceCommit, signal);
    if (commits.contentCommit)
      await addTree(tar, repositories, commits.siteId, 'content', commits.contentCommit, signal);
    tar.finalize();
  } catch (error) {
    tar.destroy();
    await stored.catch(() => {});
    throw error;
  }
  await stored;
}

async function addTree(
  tar: Pack,
  repositories: Repositories,
  siteId: string,
  repository: Repository,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const files = await repositories.listTree(siteId, repository, commit);
  const pathsOf = new Map<string, string[]>();
  for (const file of files) pathsOf.set(file.oid, [...(pathsOf.get(file.oid) ?? []), file.path]);
  for await (const blob of repositories.readBlobs(siteId, repository, [...pathsOf.keys()])) {
    signal.throwIfAborted();
    const content = await bytesOf(blob.content);
    for (const path of pathsOf.get(blob.oid) ?? []) {
      if (repository === 'content' && dropped(path, content)) continue;
      await addFile(tar, mountOf(repository, path), content);
    }
  }
}

function mountOf(repository: Repository, path: string): string {
  if (repository === 'content') return contentFolder + path;
  return path === redirectsFile ? redirectsMount : path;
}

/** Adds one file and waits until the reader has room for the next. */
function addFile(tar: Pack, name: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const entry = tar.entry({ name, size: content.length, mode: 0o644 }, (error) =>
      error ? reject(error) : resolve(),
    );
    entry.end(content);
  });
}

/** Whether the post is a draft. One that cannot be told is a fault of the post, never a published post. */
function dropped(path: string, content: Buffer): boolean {
  if (!mayBeDraft(path)) return false;
  try {
    return isDraft(path, content.toString('utf8'));
  } catch (error) {
    if (!(error instanceof UnreadableFrontMatter)) throw error;
    throw errors.build_failed(`The post ${path} cannot be published: ${error.message}.`, {
      nextAction: `Mend the front matter of ${path} in the content repository, push, and publish again.`,
    });
  }
}
