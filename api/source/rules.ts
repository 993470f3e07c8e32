/** Commits by the API: which repository they go to, and what they leave out. */

import { type Actor, loadSite, requireActive, roleOf } from '#api/access.ts';
import { missing } from '#api/capabilities.ts';
import { branchOf, readSlot } from '#api/previews/slots.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { contentFolder, printable } from '#providers/paths.ts';
import type { Branch, Repositories } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import type { Repository } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { requireRepositories, type Written, writeChanges } from './commits.ts';
import { type Files, type PlannedChange, receivedContent } from './content.ts';
import { applyEdits, type Edit, mismatch, type Place } from './edits.ts';
import { commitOfEarlierRun, type KeyedCall } from './resumed-commits.ts';
import type { ChangeInput } from './schemas.ts';
import { readFile, type SiteFile } from './tree.ts';

export type CommitRequest = {
  message: string;
  changes: ChangeInput[];
  branch: string;
  expected_head?: string | undefined;
  keyed?: KeyedCall | undefined;
};

/**
 * Writes the changes as one commit on a branch of the repository they belong to. Files that already match are left out;
 * if none is left, the branch does not move. A keyed call that is resumed commits once. Throws `stale_hash`, `edit_mismatch`, `invalid_slot`, `not_found` for a
 * file to edit or delete that does not exist, and the codes of the rules of a push.
 */
export async function commitChanges(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { message, changes: input, branch: name, expected_head: expectedHead, keyed }: CommitRequest,
): Promise<Written> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  const branch = requireBranch(deps, site, actor, name);
  const { repository, changes } = await route(input);
  const repositories = requireRepositories(deps);
  const place = { site, repository, branch };
  const earlier = keyed?.isResumed && (await commitOfEarlierRun(em, repositories, keyed.id, place));
  if (earlier) return earlier;
  return await writeChanges(em, deps, {
    ...place,
    by: actor,
    message,
    source: 'api',
    expectedHead,
    callId: keyed?.id,
    plan: (files, ref) => planChanges(repositories, { siteId: site.id, repository, ref }, changes, files),
  });
}

/** `main`, or the branch of one of the site's preview slots. */
function requireBranch(deps: Deps, site: Site, actor: Actor, name: string): Branch {
  if (name === 'main') return name;
  const off = missing(deps.config, 'previews');
  if (off) throw off;
  return branchOf(readSlot(deps, site, roleOf(site, actor), name.slice('preview/'.length))) as Branch;
}

/** A change as the caller sent it: content to write, null to delete, or edits of what is there. */
type Wanted = { path: string; content: PlannedChange['content'] } | { path: string; edits: Edit[] };

/** Assigns each path to its repository. Throws `crosses_repositories`, and `invalid_path` for a path named twice. */
async function route(input: readonly ChangeInput[]): Promise<{ repository: Repository; changes: Wanted[] }> {
  const inContent = input.filter(({ path }) => path.startsWith(contentFolder)).length;
  if (inContent > 0 && inContent < input.length) {
    throw errors.crosses_repositories('The changes affect both the source and content repositories.', {
      nextAction: `Make two calls: one for the paths under ${contentFolder}, and one for all other paths.`,
    });
  }
  const prefix = inContent > 0 ? contentFolder : '';
  const changes: Wanted[] = [];
  for (const change of input) {
    const path = change.path.slice(prefix.length);
    changes.push(change.edits ? { path, edits: change.edits } : { path, content: await readContent(change) });
  }
  const seen = new Set<string>();
  for (const { path } of changes) {
    if (seen.has(path)) throw errors.invalid_path(`${printable(path)} appears more than once in the commit.`);
    seen.add(path);
  }
  return { repository: prefix ? 'content' : 'source', changes };
}

async function readContent({ text, base64 }: ChangeInput): Promise<PlannedChange['content']> {
  if (text !== undefined) return await receivedContent(Buffer.from(text));
  return base64 === undefined ? null : await receivedContent(Buffer.from(base64, 'base64'));
}

/** Text that the edits of one commit read, in bytes. */
const editedBytesMax = 4 * 1_048_576;

async function planChanges(
  repositories: Repositories,
  { siteId, repository, ref }: { siteId: string; repository: Repository; ref: Branch | undefined },
  wanted: readonly Wanted[],
  files: Files,
): Promise<PlannedChange[]> {
  const prefix = repository === 'content' ? contentFolder : '';
  const planned: PlannedChange[] = [];
  let read = 0;
  for (const change of wanted) {
    const { path } = change;
    const file = files.get(path);
    const shown = { path: prefix + path, ref };
    if ('content' in change) {
      if (change.content === null && !file) throw noSuchFile(siteId, shown);
      planned.push(change);
      continue;
    }
    if (!file) throw noSuchFile(siteId, shown);
    read += file.bytes;
    if (read > editedBytesMax)
      throw mismatch(shown, 'and in the files before it, there is more text than edits can change');
    const edited = applyEdits(
      shown,
      await textOf(repositories, siteId, { ...file, ...shown, repository }),
      change.edits,
    );
    planned.push({ path, content: await receivedContent(Buffer.from(edited)) });
  }
  return planned;
}

async function textOf(repositories: Repositories, siteId: string, file: SiteFile & Place): Promise<string> {
  const read = await readFile(repositories, siteId, file);
  if ('text' in read && read.text !== undefined) return read.text;
  throw mismatch(file, 'there is no text: the file is not UTF-8');
}

function noSuchFile(siteId: string, { path, ref }: Place) {
  return errors.not_found(`There is no file ${printable(path)} to change.`, {
    nextAction: `List the files with ${call('source.files', { id: siteId, ref, recursive: true })}.`,
  });
}
