/** The current state of a preview slot: its rows, and its branches in both repositories. */

import { requireRepositories } from '#api/source/commits.ts';
import { type BranchHeads, Deployment } from '#db/deployments/deployment.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Preview } from '#db/previews/preview.ts';
import { previewIn, previewsIn } from '#db/previews/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { bothRepositories } from '#git/main-branches.ts';
import type { Repositories } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import { limitsOf, planLimitsOf } from '#rules/plan-limits.ts';
import { draftStatusAt, isSettled, type Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

export type SlotStatus = 'empty' | 'building' | 'draft' | 'expired';

export type Slot = {
  slot: number;
  status: SlotStatus;
  preview: Preview | undefined;
  /** The deployment that the slot's host serves. */
  draft: Deployment | undefined;
  /** The most recently requested build. */
  latest: Deployment | undefined;
  /** Whether the draft has expired and is no longer served. */
  isExpired: boolean;
  /** Tips of `main` and of the slot's own branch. */
  mains: BranchHeads;
  tips: BranchHeads;
  branched: boolean;
  behind: boolean;
  holdsWork: boolean;
  /** The canonical address for the site's pages. */
  siteUrl: string;
};

export const branchOf = (slot: number): string => `preview/${slot}`;

/** The slot number in a path, for a build. Throws `invalid_slot`. */
export function readSlot(deps: Pick<Deps, 'clock' | 'config'>, site: Site, by: Role, text: string): number {
  const { limits, lift } = planLimitsOf(deps.config, site, deps.clock.now(), by);
  const slot = numberOf(text);
  if (slot >= 1 && slot <= limits.preview_slots) return slot;
  throw errors.invalid_slot(`This site’s preview slots are numbered 1 to ${limits.preview_slots}.`, {
    nextAction: `Call ${call('preview.list', { id: site })} to list the preview slots. ${lift('preview_slots')}`,
  });
}

/** The same for an existing slot: a smaller plan does not remove a slot that is in use. */
export async function slotNumber(em: EntityManager, deps: Deps, site: Site, by: Role, text: string): Promise<number> {
  const slot = numberOf(text);
  const isBeyond = slot > limitsOf(deps.config, site, deps.clock.now()).preview_slots;
  if (isBeyond && (await previewIn(em, deps.clock.now(), site.id, slot))) return slot;
  return readSlot(deps, site, by, text);
}

const numberOf = (text: string) => (/^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0);

/** Tips of a branch in both repositories. */
export async function tipsOf(repositories: Repositories, siteId: string, branch?: string): Promise<BranchHeads> {
  const [source, content] = await Promise.all(
    bothRepositories.map((repository) => repositories.head(siteId, repository, branch)),
  );
  return { source: source ?? null, content: content ?? null };
}

type LoadDeps = Pick<Deps, 'config' | 'clock' | 'repositories'>;

export async function loadSlot(em: EntityManager, deps: LoadDeps, site: Site, slot: number): Promise<Slot> {
  const [loaded] = await loadSlots(em, deps, site, [slot]);
  return loaded as Slot;
}

/** The slots, in the given order. */
export async function loadSlots(em: EntityManager, deps: LoadDeps, site: Site, slots: number[]): Promise<Slot[]> {
  const repositories = requireRepositories(deps);
  const now = deps.clock.now();
  const seen = await previewsIn(em, now, site.id, slots);
  // Reading a preview again changes its object.
  const latestIds = new Map([...seen].map(([slot, { latestId }]) => [slot, latestId]));
  const [mains, tips] = await Promise.all([
    tipsOf(repositories, site.id),
    Promise.all(slots.map((slot) => tipsOf(repositories, site.id, branchOf(slot)))),
  ]);
  const latest = await findBuilds(em, [...latestIds.values()]);
  const latestOf = (slot: number) => latest.get(latestIds.get(slot));
  // A build's result and its slot are written in one transaction, possibly after the first query: read both again.
  const settled = slots.filter((slot) => isSettled(latestOf(slot)?.status ?? 'queued'));
  const newer = settled.length > 0 ? await previewsIn(em, now, site.id, settled) : seen;
  const previewOf = (slot: number) => (settled.includes(slot) ? newer : seen).get(slot);
  const drafts = await findBuilds(
    em,
    slots.map((slot) => previewOf(slot)?.deploymentId),
  );
  const { address } = await canonicalUrl(em, deps.config, site);
  return await Promise.all(
    slots.map((slot, at) => {
      const preview = previewOf(slot);
      const rows = { preview, draft: drafts.get(preview?.deploymentId), latest: latestOf(slot) };
      const found = { slot, ...rows, mains, tips: tips[at] as BranchHeads, siteUrl: address };
      return describeSlot(repositories, site, found, now);
    }),
  );
}

/** The deployments by their ids. */
async function findBuilds(em: EntityManager, ids: (string | null | undefined)[]) {
  const known = ids.filter((id) => id != null);
  const found = known.length > 0 ? await em.find(Deployment, { id: { $in: known } }, { refresh: true }) : [];
  return new Map<string | null | undefined, Deployment>(found.map((deployment) => [deployment.id, deployment]));
}

type Found = Pick<Slot, 'slot' | 'preview' | 'draft' | 'latest' | 'mains' | 'tips' | 'siteUrl'>;

async function describeSlot(repositories: Repositories, site: Site, found: Found, now: Date): Promise<Slot> {
  const { preview, draft, latest, mains, tips, siteUrl } = found;
  const branched = tips.source !== null || tips.content !== null;
  const base = draft ? commitsOf(draft) : branched ? { ...mains, ...withoutNulls(tips) } : mains;
  // Its pages contain a canonical address that the site no longer has.
  const isOfOther = draft !== undefined && draft.siteUrl !== siteUrl;
  const behind = isOfOther || !(await holds(repositories, site.id, base, mains));
  const holdsWork = !(await holds(repositories, site.id, mains, tips));
  const isExpired = preview !== undefined && draftStatusAt(preview, now) === 'expired';
  return { ...found, status: statusOf(isExpired, draft, latest), isExpired, branched, behind, holdsWork };
}

export function commitsOf({ sourceCommit, contentCommit }: Deployment): BranchHeads {
  return { source: sourceCommit ?? null, content: contentCommit ?? null };
}

function withoutNulls(tips: BranchHeads): Partial<BranchHeads> {
  return Object.fromEntries(Object.entries(tips).filter(([, sha]) => sha !== null));
}

/** Whether `larger` contains all of `smaller`. */
async function holds(
  repositories: Repositories,
  siteId: string,
  larger: BranchHeads,
  smaller: BranchHeads,
): Promise<boolean> {
  for (const repository of bothRepositories) {
    const [whole, part] = [larger[repository], smaller[repository]];
    if (part === null) continue;
    if (whole === null || !(await repositories.contains(siteId, repository, whole, part))) return false;
  }
  return true;
}

function statusOf(isExpired: boolean, draft?: Deployment, latest?: Deployment): SlotStatus {
  if (latest && !isSettled(latest.status)) return 'building';
  if (!draft) return 'empty';
  return isExpired ? 'expired' : 'draft';
}
