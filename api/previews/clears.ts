/** Clearing a preview slot: its branches in both repositories, its draft and its builds. */

import { type Actor, loadSite, requireChangeable, roleOf } from '#api/access.ts';
import { requireRepositories } from '#api/source/commits.ts';
import { recordCleared } from '#db/history/previews.ts';
import type { EntityManager } from '#db/orm.ts';
import { clearPreview } from '#db/previews/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { completeAbandonedPushes, removeRows } from '#git/accepted-pushes.ts';
import { bothRepositories } from '#git/main-branches.ts';
import { addPlannedClear, isClearPlanned, removePlannedClears } from '#git/planned-clears.ts';
import type { Repositories } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { changeSlot, otherPushes, requireDraftOf } from './rules.ts';
import { branchOf, loadSlot, type Slot, slotNumber } from './slots.ts';

type Clearing = { siteId: string; slot: string; discard: boolean };

/**
 * Empties the slot. Throws `slot_empty`, and `preview_holds_work` if work would be lost and `discard` is not set. A clear
 * that is sent again because its process was killed completes the one before.
 */
export async function clearSlot(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { siteId, slot: text, discard }: Clearing,
): Promise<void> {
  const site = await loadSite(em, actor, siteId);
  requireChangeable(site);
  const number = await slotNumber(em, deps, site, roleOf(site, actor), text);
  const hasEnded = await completeEarlier(deps, siteId, number);
  const seen = await loadSlot(em.fork(), deps, site, number);
  requireDiscardable(seen, siteId, discard);
  const rows = await plan(em, deps, actor, siteId, seen);
  const clear = async (tx: EntityManager, locked: Site, repositories: Repositories) => {
    const slot = await loadSlot(tx, { ...deps, repositories }, locked, number);
    const isEmpty = slot.status === 'empty' && !slot.branched;
    if (isEmpty && hasEnded) return;
    if (isEmpty) requireDraftOf(slot, siteId);
    requireDiscardable(slot, siteId, discard);
    if (slot.branched && rows.length === 0) throw otherPushes();
    await repositories.move(siteId, removals(slot));
    await clearPreview(tx, deps.clock, locked, number);
    recordCleared(tx, deps.clock, actor, { site: locked, slot: number, discarded: slot.holdsWork });
    await removePlannedClears(tx, { siteId, branch: branchOf(number) });
  };
  try {
    await changeSlot(em, deps, siteId, clear, rows);
  } catch (error) {
    // git has removed nothing. After any other error it may have.
    if (error instanceof AppError) await removeRows(em, rows);
    throw error;
  }
}

/** Whether an earlier clear of the slot, which had no answer, has ended by now. */
async function completeEarlier(deps: Deps, siteId: string, slot: number): Promise<boolean> {
  const place = { siteId, branch: branchOf(slot) };
  if (!(await isClearPlanned(deps.em(), place))) return false;
  await completeAbandonedPushes(deps.em(), deps.clock, requireRepositories(deps), siteId);
  return !(await isClearPlanned(deps.em(), place));
}

/** Writes what the history needs if this process is killed after git has removed the slot's first branch. */
async function plan(em: EntityManager, deps: Deps, by: Actor, siteId: string, slot: Slot): Promise<string[]> {
  const [first] = removals(slot);
  if (!first) return [];
  const { repository, branch, from } = first;
  const discarded = slot.holdsWork;
  return [await addPlannedClear(em, deps.clock, { siteId, repository, branch, from, by, discarded })];
}

function removals({ slot, tips }: Slot) {
  return bothRepositories.flatMap((repository) => {
    const from = tips[repository];
    return from === null ? [] : [{ repository, branch: branchOf(slot), from, to: null }];
  });
}

function requireDiscardable({ slot, holdsWork }: Slot, siteId: string, discard: boolean): void {
  if (!holdsWork || discard) return;
  throw errors.preview_holds_work(
    `Preview slot ${slot} contains unpublished changes; clearing the slot would discard them.`,
    {
      nextAction:
        `Publish them with ${call('preview.publish', { id: siteId, slot })}, or discard them with ` +
        `${call('preview.clear', { id: siteId, slot, discard: true })}.`,
    },
  );
}
