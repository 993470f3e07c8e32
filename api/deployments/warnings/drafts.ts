/** Posts that are drafts, but say so in other words than `draft: true`, which most themes would publish. */

import { printable } from '#providers/paths.ts';
import { draftDataOf, draftMarkOf, mayBeDraft } from '#providers/repositories/drafts.ts';
import { bytesOf } from '#providers/repositories/objects.ts';
import type { Repositories } from '#providers/repositories.ts';

/** Longer data can take long to parse. */
const dataCharactersMax = 4_096;
const postBytesMax = 262_144;
const postsMax = 2_000;
const shownMax = 5;

/** Paths in the content repository, in its order, until time or posts run out. */
export async function findUnusualDrafts(
  repositories: Repositories,
  siteId: string,
  commit: string,
  until: number,
): Promise<string[]> {
  const files = await repositories.listTree(siteId, 'content', commit);
  const posts = files.filter(({ path, bytes }) => mayBeDraft(path) && bytes <= postBytesMax).slice(0, postsMax);
  const pathsOf = Map.groupBy(posts, ({ oid }) => oid);
  const found: string[] = [];
  for await (const { oid, content } of repositories.readBlobs(siteId, 'content', [...pathsOf.keys()])) {
    const text = (await bytesOf(content)).toString('utf8');
    for (const { path } of pathsOf.get(oid) ?? []) if (isUnusual(path, text)) found.push(path);
    if (performance.now() > until) break;
  }
  return found;
}

function isUnusual(path: string, text: string): boolean {
  if (!/draft/i.test(text)) return false;
  try {
    const data = draftDataOf(path, text);
    return data !== undefined && data.text.length <= dataCharactersMax && draftMarkOf(data) === 'unusual draft';
  } catch {
    return false; // An unreadable post fails the build.
  }
}

/** One warning for all of them. */
export function unusualDraftsMessage(paths: readonly string[]): string {
  const shown = paths.slice(0, shownMax).map(printable).join(', ');
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : '';
  const [are, say] = paths.length === 1 ? ['post is a draft', 'says'] : ['posts are drafts', 'say'];
  return `${paths.length} ${are} and not published, but ${say} so in other words than draft: true: ${shown}${more}.`;
}
