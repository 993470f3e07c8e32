/** Updates a preview slot from the site: merges `main` into the slot's branch, in both repositories or in neither. */

import { type Actor, loadSite, requireChangeable, roleOf } from '#api/access.ts';
import { authorOf, requireRepositories, rulesFor } from '#api/source/commits.ts';
import { refusalError } from '#api/source/validation.ts';
import { Account } from '#db/accounts/account.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { addMoves, completePush, removeRows } from '#git/accepted-pushes.ts';
import { bothRepositories } from '#git/main-branches.ts';
import { checkPush } from '#git/push.ts';
import type { Rules } from '#git/rules.ts';
import { contentFolder, printable } from '#providers/paths.ts';
import type { Author, BranchMove, Repositories } from '#providers/repositories.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { buildDraft, type OnSlot, requireBranch, requireDraftOf } from './rules.ts';
import { branchOf, commitsOf, loadSlot, readSlot, type Slot } from './slots.ts';

const triesMax = 16;
const filesNamedMax = 20;

/**
 * Merges, and rebuilds the draft unless it was built from exactly these commits. Throws what `requireDraftOf` and `requireBranch` do, `draft_conflict`
 * with the files that both sides changed, the codes of the rules of a push, and `stale_hash` when others keep moving the branches.
 */
export async function updateSlot(em: EntityManager, deps: Deps, actor: Actor, call: OnSlot): Promise<Deployment> {
  const site = await loadSite(em, actor, call.siteId);
  requireChangeable(site);
  const number = readSlot(deps, site, roleOf(site, actor), call.slot);
  const repositories = requireRepositories(deps);
  const account = await em.findOneOrFail(Account, actor.accountId);
  for (let tries = 0; tries < triesMax; tries++) {
    const slot = await loadSlot(em, deps, site, number);
    const draft = requireDraftOf(slot, site.id);
    requireBranch(slot, site.id);
    const moves = await mergesFor(deps, repositories, site, slot, { account, author: authorOf(account, actor) });
    if (moves.length === 0 && slot.status === 'draft' && isCurrent(slot, draft)) return draft;
    if (!(await moveWithRecords(em, deps, actor, site.id, moves))) continue;
    return await buildDraft(em, deps, actor, call);
  }
  throw errors.stale_hash('Other changes are being made to this preview slot’s branches at the moment.', {
    nextAction: 'Send the same request again.',
  });
}

/** Moves the branches, and records that. False, without a record, when one of them moved meanwhile. */
async function moveWithRecords(em: EntityManager, deps: Deps, actor: Actor, siteId: string, moves: BranchMove[]) {
  const repositories = requireRepositories(deps);
  const marked = moves.map((move) => ({ ...move, pushId: newId('hist') }));
  const rows = await addMoves(em, deps.clock, actor, { siteId, moves: marked });
  const isMoved = await repositories.move(siteId, marked);
  if (isMoved) await em.transactional((tx) => completePush(tx, repositories, rows));
  else await removeRows(em, rows);
  return isMoved;
}

function isCurrent({ mains, tips, siteUrl }: Slot, draft: Deployment): boolean {
  const commits = commitsOf(draft);
  const sameCommits = bothRepositories.every(
    (repository) => commits[repository] === (tips[repository] ?? mains[repository]),
  );
  return sameCommits && draft.siteUrl === siteUrl;
}

/** The planned branch updates; nothing has changed when this throws. */
async function mergesFor(
  deps: Deps,
  repositories: Repositories,
  site: Site,
  { slot, mains, tips }: Slot,
  { account, author }: { account: Account; author: Author },
): Promise<BranchMove[]> {
  const by = roleOf(site, { accountId: account.id });
  const branch = branchOf(slot);
  const moves: BranchMove[] = [];
  const conflicts: string[] = [];
  for (const repository of bothRepositories) {
    const [ours, theirs] = [tips[repository], mains[repository]];
    if (ours === null || theirs === null || (await repositories.contains(site.id, repository, ours, theirs))) continue;
    const to = await mergeInto(deps, repositories, site.id, rulesFor(deps, site, repository, by), {
      branch,
      ours,
      theirs,
      author,
    });
    if (typeof to === 'string') moves.push({ repository, branch, from: ours, to });
    else conflicts.push(...to.map((path) => (repository === 'content' ? contentFolder : '') + path));
  }
  if (conflicts.length > 0) throw conflict(slot, conflicts);
  return moves;
}

/** The merged commit, or the paths in conflict. */
async function mergeInto(
  deps: Deps,
  repositories: Repositories,
  siteId: string,
  rules: Rules,
  { branch, ours, theirs, author }: { branch: string; ours: string; theirs: string; author: Author },
): Promise<string | string[]> {
  const { repository } = rules;
  if (await repositories.contains(siteId, repository, theirs, ours)) return theirs;
  const message = `Merge main into ${branch}\n`;
  const merged = await repositories.merge(siteId, repository, { ours, theirs, message, author, at: deps.clock.now() });
  if ('conflicts' in merged) return merged.conflicts;
  const update = { ref: `refs/heads/${branch}`, from: ours, to: merged.commit };
  const place = repositories.place(siteId, repository);
  const { violations } = await checkPush(rules, place, [update], theirs);
  if (violations.length > 0) throw refusalError(repository, violations);
  return merged.commit;
}

function conflict(slot: number, paths: readonly string[]) {
  const named = paths.slice(0, filesNamedMax).map(printable).join(', ');
  const more = paths.length > filesNamedMax ? `, and ${paths.length - filesNamedMax} more` : '';
  return errors.draft_conflict(
    `The site and preview slot ${slot} have conflicting changes in these files: ${named}${more}.`,
    {
      nextAction: `Merge main into ${branchOf(slot)} in a clone, resolve the conflicts, and push ${branchOf(slot)}.`,
    },
  );
}
