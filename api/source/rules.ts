/** Commits by the API: which repository they go to, and what they leave out. */

import { type Actor, loadSite, requireActive } from '#api/access.ts';
import type { EntityManager } from '#db/orm.ts';
import { contentFolder, printable } from '#providers/paths.ts';
import type { Repository } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { type Written, writeChanges } from './commits.ts';
import { type PlannedChange, receivedContent } from './content.ts';
import type { ChangeInput } from './schemas.ts';

export type CommitRequest = { message: string; changes: ChangeInput[]; expected_head?: string | undefined };

/**
 * Writes the changes as one commit on `main` of the repository they belong to. Files that already match are left out; if none is left,
 * `main` does not move, so a call can be repeated. Throws `stale_hash`, and the codes of the rules of a push.
 */
export async function commitChanges(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { message, changes: input, expected_head: expectedHead }: CommitRequest,
): Promise<Written> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  const { repository, changes } = await route(input);
  return await writeChanges(em, deps, {
    site,
    repository,
    message,
    by: actor,
    source: 'api',
    expectedHead,
    plan: () => changes,
  });
}

/** Assigns each path to its repository. Throws `crosses_repositories`, and `invalid_path` for a path named twice. */
async function route(input: readonly ChangeInput[]): Promise<{ repository: Repository; changes: PlannedChange[] }> {
  const inContent = input.filter(({ path }) => path.startsWith(contentFolder)).length;
  if (inContent > 0 && inContent < input.length) {
    throw errors.crosses_repositories('The changes affect both the source and content repositories.', {
      nextAction: `Make two calls: one for the paths under ${contentFolder}, and one for all other paths.`,
    });
  }
  const prefix = inContent > 0 ? contentFolder : '';
  const changes: PlannedChange[] = [];
  for (const change of input)
    changes.push({ path: change.path.slice(prefix.length), content: await readContent(change) });
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
