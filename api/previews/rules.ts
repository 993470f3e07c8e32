/** Building and publishing a preview slot. Updating it from `main` is in merges.ts, clearing it in clears.ts. */

import { type Actor, loadSite, lockChangeable, requireChangeable, roleOf } from '#api/access.ts';
import { requireRepositories } from '#api/source/commits.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { previewSubject } from '#db/history/previews.ts';
import { type ActedBy, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { acceptPreviewPublish } from '#db/previews/publishes.ts';
import { acceptDraft } from '#db/previews/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { liveDeploymentOf } from '#db/sites/transitions.ts';
import { removeRows } from '#git/accepted-pushes.ts';
import { bothRepositories } from '#git/main-branches.ts';
import { withGitOutside } from '#git/outside-transaction.ts';
import type { Repositories } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { branchOf, commitsOf, loadSlot, readSlot, type Slot, slotNumber, tipsOf } from './slots.ts';

/** The slot named by the path, and the id of the new deployment. */
export type OnSlot = { id: string; siteId: string; slot: string };

/** Builds the slot's draft: in each repository from the slot's branch, or from `main` if it has none. Throws `site_archived`, `no_source`, `rate_limited`. */
export async function buildDraft(em: EntityManager, deps: Deps, actor: Actor, call: OnSlot): Promise<Deployment> {
  const site = await loadSite(em, actor, call.siteId);
  requireChangeable(site);
  const slot = readSlot(deps, site, roleOf(site, actor), call.slot);
  return await em.transactional(async (tx) => {
    const locked = await lockChangeable(tx, call.siteId);
    const commits = await pinned(tx, deps, locked, slot);
    const draft = await acceptDraft(tx, deps, locked, { ...commits, id: call.id, slot, createdBy: actor });
    if (draft.id === call.id) recordPreview(tx, deps, actor, 'preview.built', draft);
    return draft;
  });
}

function recordPreview(
  tx: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  by: ActedBy,
  action: 'preview.built' | 'preview.published',
  { id, site, slot, number }: Deployment,
): void {
  const subject = previewSubject(site, slot ?? 0);
  recordAct(tx, clock, by, action, { site: site as Site, subject, detail: { deployment_id: id, number } });
}

async function pinned(em: EntityManager, deps: Deps, site: Site, slot: number) {
  const repositories = requireRepositories(deps);
  const [mains, tips] = [await tipsOf(repositories, site.id), await tipsOf(repositories, site.id, branchOf(slot))];
  const sourceCommit = tips.source ?? mains.source;
  if (!sourceCommit) {
    throw errors.no_source(`The site ${site.name} has no source yet.`, {
      nextAction: `Push to main or ${branchOf(slot)} in the site’s git repository, then build the preview.`,
    });
  }
  const contentCommit = tips.content ?? mains.content;
  const { address: siteUrl } = await canonicalUrl(em, deps.config, site);
  return { sourceCommit, contentCommit, siteUrl };
}

/**
 * Merges the slot's work into the site and makes live the files that were built for the preview. Throws what `requireDraft` and
 * `requireOwnWork` do, and `draft_behind`.
 */
export async function publishSlot(em: EntityManager, deps: Deps, actor: Actor, call: OnSlot): Promise<Deployment> {
  const site = await loadSite(em, actor, call.siteId);
  requireChangeable(site);
  const number = await slotNumber(em, deps, site, roleOf(site, actor), call.slot);
  return await changeSlot(em, deps, call.siteId, async (tx, locked, repositories) => {
    const slot = await loadSlot(tx, { ...deps, repositories }, locked, number);
    const draft = requireDraftOf(slot, site.id);
    requireBranch(slot, site.id);
    requireNotBehind(slot, site.id);
    await requireChanges(tx, locked, slot, draft);
    const publish = { id: call.id, createdBy: actor, draft, mains: slot.mains };
    const accepted = await acceptPreviewPublish(tx, deps, locked, publish);
    if (accepted.id === call.id) recordPreview(tx, deps, actor, 'preview.published', accepted);
    return accepted;
  });
}

/** The draft that the slot serves. Throws `slot_empty`, `preview_empty` while the first one is built, `preview_expired`. */
export function requireDraftOf({ slot, status, draft, isExpired }: Slot, siteId: string): Deployment {
  const place = { id: siteId, slot };
  if (isExpired) {
    throw errors.preview_expired(`The draft in preview slot ${slot} expired after 14 days and will be removed.`, {
      nextAction: `Build a new draft with ${call('preview.build', place)}.`,
    });
  }
  if (draft) return draft;
  if (status === 'building') {
    throw errors.preview_empty(`Preview slot ${slot} has no draft yet: the first build is still in progress.`, {
      nextAction: `Call ${call('preview.read', place)} until the status is "draft".`,
    });
  }
  throw errors.slot_empty(`Preview slot ${slot} has no draft.`, {
    nextAction: `Build a draft with ${call('preview.build', place)}.`,
  });
}

/** Throws `slot_not_branched` if neither repository has the slot's branch. */
export function requireBranch({ slot, branched }: Slot, siteId: string): void {
  if (!branched) throw notBranched(slot, siteId);
}

function notBranched(slot: number, siteId: string) {
  return errors.slot_not_branched(
    `Preview slot ${slot} has no branch of its own, so it shows the same version as the site.`,
    {
      nextAction:
        `Push to the branch ${branchOf(slot)} and build the preview, or publish the site with ` +
        `${call('site.publish', { id: siteId })}.`,
    },
  );
}

function requireNotBehind({ slot, behind, branched }: Slot, siteId: string): void {
  if (!behind) return;
  const place = { id: siteId, slot };
  throw errors.draft_behind(`The site has changed since the draft in preview slot ${slot} was built.`, {
    nextAction: `Update the draft with ${call(branched ? 'preview.update' : 'preview.build', place)}, check it, then publish it again.`,
  });
}

/** Throws unless there are commits that the site lacks, or has but does not show. */
async function requireChanges(tx: EntityManager, site: Site, { slot, mains }: Slot, draft: Deployment): Promise<void> {
  const commits = commitsOf(draft);
  const isOn = (other: { source: string | null; content: string | null }) =>
    bothRepositories.every((repository) => other[repository] === commits[repository]);
  const live = await liveDeploymentOf(tx, site);
  if (isOn(mains) && live && isOn(commitsOf(live))) throw notBranched(slot, site.id);
}

/**
 * One transaction under the lock of the site's row, in which git answers nothing slow. It removes these rows of the
 * change (accepted-pushes.ts).
 */
export async function changeSlot<T>(
  em: EntityManager,
  deps: Deps,
  siteId: string,
  change: (tx: EntityManager, locked: Site, repositories: Repositories) => Promise<T>,
  rows: readonly string[] = [],
): Promise<T> {
  const act = (repositories: Repositories) =>
    em.transactional(async (tx) => {
      if (rows.length > 0) await removeRows(tx, rows);
      return await change(tx, await lockChangeable(tx, siteId), repositories);
    });
  return await withGitOutside(requireRepositories(deps), act, otherPushes);
}

export function otherPushes(): AppError {
  return errors.stale_hash('Other pushes to this preview slot are in progress.', {
    nextAction: 'Send the same request again.',
  });
}
