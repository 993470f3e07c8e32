/** What a review shows: the live site, or a preview slot. */

import { missing } from '#api/capabilities.ts';
import { slotNumber } from '#api/previews/slots.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Preview } from '#db/previews/preview.ts';
import { previewIn } from '#db/previews/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { draftStatusAt, type Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { siteAddress } from '#runtime/site-addresses.ts';

export type ReviewTarget = { address: string; deploymentId: string | null };

/** The deployment under review and its address. Throws `preview_empty`, `preview_expired` for a slot that shows nothing. */
export async function reviewTargetOf(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  site: Site,
  slot: number | null,
): Promise<ReviewTarget> {
  if (slot === null) return { address: siteAddress(config, site.name), deploymentId: site.liveDeploymentId ?? null };
  const now = clock.now();
  const { label, deploymentId } = requireShown(await previewIn(em, now, site.id, slot), now);
  return { address: siteAddress(config, label), deploymentId };
}

function requireShown(preview: Preview | undefined, now: Date) {
  const { label, deploymentId } = preview ?? {};
  if (!preview || !label || !deploymentId) {
    throw errors.preview_empty('This preview has no draft yet.', {
      nextAction: `Build a draft with ${call('preview.build')}, then repeat this call.`,
    });
  }
  if (draftStatusAt(preview, now) === 'shown') return { label, deploymentId };
  throw errors.preview_expired('This preview has expired.', {
    nextAction: `Build the preview again with ${call('preview.build')}, then repeat this call.`,
  });
}

/** Throws if this slot cannot be reviewed: `preview_disabled`, `invalid_slot`, or it shows nothing. */
export async function requireSlot(em: EntityManager, deps: Deps, site: Site, by: Role, slot: number): Promise<void> {
  const off = missing(deps.config, 'previews');
  if (off) throw off;
  await reviewTargetOf(em, deps, site, await slotNumber(em, deps, site, by, String(slot)));
}
