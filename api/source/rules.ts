/** Commits by the API: the rules of a push, from the same code, over the same commits. */
import { Account } from '../../db/entities/account.ts';
import type { EntityManager } from '../../db/orm.ts';
import type { Repository } from '../../db/states.ts';
import type { Deps } from '../../deps.ts';
import { type AppError, errors } from '../../errors.ts';
import { printable } from '../../git/rules/names.ts';
import {
  blobId,
  judgeContent,
  judgeTree,
  needsBytes,
  type Rules,
  readPlatformFiles,
  sentence,
  type Verdict,
} from '../../git/rules.ts';
import type { Difference } from '../../providers/repositories/objects.ts';
import type { Change, Repositories, TreeEntry } from '../../providers/repositories.ts';
import { type Actor, loadSite, requireActive } from '../access.ts';
import { missing } from '../capabilities.ts';
import type { ChangeInput } from './schemas.ts';
import { contentFolder } from './tree.ts';

export type CommitRequest = { message: string; changes: ChangeInput[]; expected_head?: string | undefined };

/** Which repository, where its `main` stands now, and how many files the call changed. */
export type Committed = { repository: Repository; commit: string; filesChanged: number };

const triesMax = 5;

export function requireRepositories(deps: Pick<Deps, 'config' | 'repositories'>): Repositories {
  if (deps.repositories) return deps.repositories;
  throw missing(deps.config, 'repositories') ?? new Error('repositories are on and not there');
}

/**
 * Writes the changes as one commit on `main` of the repository they belong to. What is there already is left out; when nothing is left,
 * `main` stays where it is, so that a call may be repeated. Throws `stale_hash`, and the codes of the rules of a push.
 */
export async function commitChanges(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  request: CommitRequest,
): Promise<Committed> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  const repositories = requireRepositories(deps);
  const { repository, changes } = route(request.changes);
  const rules: Rules = { repository, limits: deps.config.limits, platform: readPlatformFiles() };
  const { name, email } = await em.findOneOrFail(Account, actor.accountId);
  for (let tries = 0; tries < triesMax; tries++) {
    const parent = await repositories.head(siteId, repository);
    const before = parent === null ? [] : await repositories.listTree(siteId, repository, parent);
    const effective = leaveOutTheSame(before, changes);
    if (parent !== null && effective.length === 0) return { repository, commit: parent, filesChanged: 0 };
    if (request.expected_head !== undefined && request.expected_head !== parent) throw stale(parent);
    await requireAllowed(rules, before, effective);
    const commit = await repositories.commit(siteId, repository, {
      parent,
      message: request.message,
      author: { name, email },
      at: deps.clock.now(),
      changes: effective,
    });
    if (commit !== null) return { repository, commit, filesChanged: effective.length };
  }
  throw errors.stale_hash('Others keep changing the same repository at this moment.', {
    nextAction: 'Send the same commit again.',
  });
}

/** Sends each path to the repository that holds it. Throws `crosses_repositories`, and `invalid_path` for one named twice. */
function route(input: readonly ChangeInput[]): { repository: Repository; changes: Change[] } {
  const inContent = input.filter(({ path }) => path.startsWith(contentFolder)).length;
  if (inContent > 0 && inContent < input.length) {
    throw errors.crosses_repositories('The changes touch both the source and the content repository.', {
      nextAction: `Send two calls: one with the paths under ${contentFolder}, one with the others.`,
    });
  }
  const prefix = inContent > 0 ? contentFolder : '';
  const changes = input.map((change) => ({ path: change.path.slice(prefix.length), bytes: bytesOf(change) }));
  const seen = new Set<string>();
  for (const { path } of changes) {
    if (seen.has(path)) throw errors.invalid_path(`${printable(path)} is named twice in one commit.`);
    seen.add(path);
  }
  return { repository: prefix ? 'content' : 'source', changes };
}

function bytesOf({ text, base64 }: ChangeInput): Buffer | null {
  if (text !== undefined) return Buffer.from(text);
  return base64 === undefined ? null : Buffer.from(base64, 'base64');
}

/** The changes that do change something, each under the mode its file has. */
function leaveOutTheSame(before: readonly TreeEntry[], changes: readonly Change[]): Change[] {
  const files = new Map(before.map((file) => [file.path, file]));
  return changes.flatMap((change) => {
    const file = files.get(change.path);
    if (change.bytes === null) return file ? [change] : [];
    if (file?.oid === blobId(change.bytes)) return [];
    return [file?.mode === '100755' ? { ...change, mode: '100755' as const } : change];
  });
}

/** Judges the tree that the commit would leave, without writing it. */
async function requireAllowed(rules: Rules, before: readonly TreeEntry[], changes: readonly Change[]): Promise<void> {
  const after = new Map(before.map((file) => [file.path, file]));
  const differences: Difference[] = changes.map(({ path, bytes, mode = '100644' }) => {
    if (bytes === null) {
      after.delete(path);
      return { path, oid: null, mode: null };
    }
    const file = { path, oid: blobId(bytes), bytes: bytes.length, mode };
    after.set(path, file);
    return file;
  });
  const verdicts = judgeTree(rules, [...after.values()], differences);
  if (verdicts.length === 0) verdicts.push(...clashes(after, changes));
  if (verdicts.length === 0) verdicts.push(...(await judgeBytes(rules.repository, changes)));
  if (verdicts.length > 0) throw refusal(rules.repository, verdicts);
}

/** A path cannot be a file and a folder; git would quietly drop one of them. */
function clashes(after: ReadonlyMap<string, TreeEntry>, changes: readonly Change[]): Verdict[] {
  const folders = new Set([...after.keys()].flatMap(parents));
  const isClash = (path: string) => folders.has(path) || parents(path).some((folder) => after.has(folder));
  return changes
    .filter(({ path, bytes }) => bytes !== null && isClash(path))
    .map(({ path }) => ({
      code: 'invalid_path' as const,
      path,
      what: 'would be a file and a folder at once',
      remedy: 'Delete the other one in the same commit, or choose another path.',
    }));
}

function parents(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

async function judgeBytes(repository: Repository, changes: readonly Change[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { path, bytes } of changes) {
    if (bytes === null || !needsBytes(repository, path)) continue;
    const verdict = await judgeContent(repository, path, chunks(bytes));
    if (verdict) verdicts.push(verdict);
  }
  return verdicts;
}

async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function refusal(repository: Repository, verdicts: readonly Verdict[]): AppError {
  const [first] = verdicts as [Verdict];
  const folder = repository === 'content' ? contentFolder : '';
  const shown = verdicts.slice(0, 5).map((verdict) => sentence(verdict, folder));
  const more = verdicts.length > 5 ? [`${verdicts.length - 5} more changes are refused.`] : [];
  return errors[first.code]([...shown, ...more].join(' '), { nextAction: first.remedy });
}

function stale(head: string | null): AppError {
  return errors.stale_hash(`The repository has moved on since expected_head: main is at ${head ?? 'no commit'} now.`, {
    nextAction: 'Read the files again with GET /v1/sites/{id}/files, then send the commit with the new expected_head.',
  });
}
