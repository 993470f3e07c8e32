/**
 * The source of a build: both trees at their pinned commits as one tar, content mounted at `src/content/`, with drafts or without. Beside it is
 * a digest of what it executes.
 */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Pack, pack } from 'tar-stream';
import { checkContent, checkPlace, needsBytes, sentence } from '#git/rules.ts';
import { readSettings } from '#git/settings.ts';
import { renderVariables, UnusableSettings, variablesFile } from '#providers/build-settings.ts';
import { headersFile } from '#providers/headers/file.ts';
import { contentFolder } from '#providers/paths.ts';
import { redirectsFile } from '#providers/redirects/file.ts';
import { mayBeDraft, UnreadableFrontMatter } from '#providers/repositories/drafts.ts';
import { bytesOf } from '#providers/repositories/objects.ts';
import type { TreeEntry } from '#providers/repositories/trees.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import { errors } from '#runtime/errors.ts';
import { addTarEntry } from '#runtime/tar-entry.ts';
import { createDraftReader, type DraftReader } from './draft-reader.ts';
import { SnapshotDigests } from './snapshot-digests.ts';

/** The build copies `public/` unchanged, so these files reach the output under their own names. */
const mountedInPublic: ReadonlySet<string> = new Set([redirectsFile, headersFile]);

/** A site is built without drafts, a preview with them. */
export type Drafts = 'without drafts' | 'with drafts';

/** The name of a snapshot in the scratch space of the store. */
export function snapshotName(deploymentId: string, drafts: Drafts = 'without drafts'): string {
  return drafts === 'without drafts' ? `${deploymentId}.tar` : `${deploymentId}.drafts.tar`;
}

const digestName = (snapshot: string) => `${snapshot}.executed`;

/** The digest of what the snapshot executes; undefined if it was written by a release that did not compute it. */
export async function executedBy({ scratch }: Store, snapshot: string): Promise<string | undefined> {
  const digest = await scratch.read(digestName(snapshot));
  return digest && (await text(digest));
}

export async function removeSnapshots({ scratch }: Store, deploymentId: string): Promise<void> {
  for (const drafts of ['without drafts', 'with drafts'] as const) {
    const snapshot = snapshotName(deploymentId, drafts);
    await Promise.all([scratch.remove(snapshot), scratch.remove(digestName(snapshot))]);
  }
}

export type SnapshotCommits = { siteId: string; sourceCommit: string; contentCommit: string | null };

/** `drafts` is the number of drafts, whether included or not; `digest` is the same for equal snapshots. */
type WrittenSnapshot = { drafts: number; digest: string };

/** Writes the snapshot to the scratch space of the store. Throws `build_failed` if a post is unreadable. */
export async function writeSnapshot(
  store: Store,
  repositories: Repositories,
  name: string,
  commits: SnapshotCommits,
  drafts: Drafts,
  signal: AbortSignal,
): Promise<WrittenSnapshot> {
  const tar = pack();
  const digests = new SnapshotDigests();
  let found = 0;
  await using reader = createDraftReader();
  const takes = async (path: string, content: Buffer) => {
    if (!(await checkDraft(reader, path, content))) return true;
    found += 1;
    return drafts === 'with drafts';
  };
  const stored = store.scratch.put(name, Readable.from(inBlocks(tar as AsyncIterable<Buffer>), { objectMode: false }));
  stored.catch(() => tar.destroy());
  try {
    const { siteId, sourceCommit, contentCommit } = commits;
    const to = { tar, digests };
    const posts = contentCommit ? repositories.listTree(siteId, 'content', contentCommit) : undefined;
    posts?.catch(() => {}); // Awaited below, unless the source fails.
    await addSource(to, repositories, siteId, sourceCommit, signal);
    if (posts)
      await addTree(to, repositories, { siteId, repository: 'content', files: await posts, root: '' }, takes, signal);
    await store.scratch.put(digestName(name), Readable.from([Buffer.from(digests.ofExecuted())]));
    tar.finalize();
  } catch (error) {
    tar.destroy();
    await stored.catch(() => {});
    throw error;
  }
  await stored;
  return { drafts: found, digest: digests.ofAll() };
}

/** Adds the source below its root folder, and the public variables of the build. */
async function addSource(
  to: { tar: Pack; digests: SnapshotDigests },
  repositories: Repositories,
  siteId: string,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const files = await repositories.listTree(siteId, 'source', commit);
  const { root, env } = await readSettings(repositories, siteId, files).catch(failBuild);
  const variables = Buffer.from(renderVariables(env));
  // No file of the source replaces the variables.
  const takes = async (path: string) => variables.length === 0 || path.toLowerCase() !== variablesFile;
  await addTree(to, repositories, { siteId, repository: 'source', files, root }, takes, signal);
  if (variables.length === 0) return;
  to.digests.add(variablesFile, variables.toString(), variables);
  await addTarEntry(to.tar, { name: variablesFile, mode: 0o644 }, variables);
}

type Tree = { siteId: string; repository: Repository; files: readonly TreeEntry[]; root: string };

/** Adds the files below `root`, as if it were the root of the repository. */
async function addTree(
  { tar, digests }: { tar: Pack; digests: SnapshotDigests },
  repositories: Repositories,
  { siteId, repository, files: all, root }: Tree,
  takes: (path: string, content: Buffer) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const files = all.filter(({ path }) => path.startsWith(root));
  if (root !== '' && files.length === 0) throw errors.build_failed(`frontage.toml: there is no folder ${root}.`);
  const filesOf = Map.groupBy(files, ({ oid }) => oid);
  for await (const blob of repositories.readBlobs(siteId, repository, [...filesOf.keys()])) {
    signal.throwIfAborted();
    const content = await bytesOf(blob.content);
    for (const { path: full } of filesOf.get(blob.oid) ?? []) {
      const path = full.slice(root.length);
      if (root !== '') await requireAllowed(root, path, content);
      if (!(await takes(path, content))) continue;
      const mounted = mountOf(repository, path);
      digests.add(mounted, blob.oid, content);
      await addTarEntry(tar, { name: mounted, mode: 0o644 }, content);
    }
  }
}

function failBuild(error: unknown): never {
  if (!(error instanceof UnusableSettings)) throw error;
  throw errors.build_failed(`frontage.toml ${error.message}.`, {
    nextAction: 'Correct frontage.toml in the source, push, and publish again.',
  });
}

/** A push is checked by its paths in the repository: below another root, the rules of folders apply here. */
async function requireAllowed(root: string, path: string, content: Buffer): Promise<void> {
  const bytes = async function* () {
    yield content;
  };
  const fault =
    checkPlace('source', path) ?? (needsBytes('source', path) && (await checkContent('source', path, bytes())));
  if (fault) throw errors.build_failed(sentence(fault, root), { nextAction: `${fault.remedy} Then publish again.` });
}

function mountOf(repository: Repository, path: string): string {
  if (repository === 'content') return contentFolder + path;
  return mountedInPublic.has(path) ? `public/${path}` : path;
}

/** Fewer and larger chunks: writing each to a file takes longer than making it. */
async function* inBlocks(tar: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [parts, bytes]: [Buffer[], number] = [[], 0];
  for await (const part of tar) {
    parts.push(part);
    bytes += part.length;
    if (bytes < 262_144) continue;
    yield Buffer.concat(parts);
    [parts, bytes] = [[], 0];
  }
  yield Buffer.concat(parts);
}

/** Whether the post is a draft. An unreadable post fails the build, so that a draft is never published by mistake. */
async function checkDraft(reader: DraftReader, path: string, content: Buffer): Promise<boolean> {
  if (!mayBeDraft(path)) return false;
  try {
    return await reader.isDraft(path, content.toString('utf8'));
  } catch (error) {
    if (!(error instanceof UnreadableFrontMatter)) throw error;
    throw errors.build_failed(`The post ${path} cannot be published: ${error.message}.`, {
      nextAction: `Fix the front matter of ${path} in the content repository, push, and publish again.`,
    });
  }
}
