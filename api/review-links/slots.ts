/** Where a review takes place: on the live site, or on what a preview slot shows. */
import { siteAddress } from '../../config.ts';
import type { Site } from '../../db/entities/site.ts';
import type { EntityManager } from '../../db/orm.ts';
import type { Deps } from '../../deps.ts';
import { errors } from '../../errors.ts';

/** The address to look at. */
export async function addressOf(
  _em: EntityManager,
  { config }: Deps,
  site: Site,
  slot: number | null,
): Promise<string> {
  if (slot === null) return siteAddress(config, site.name);
  throw errors.preview_empty('This preview shows nothing at present.');
}

/** Throws `invalid_slot` for a number that no slot has, `preview_empty` for one that shows nothing. */
export async function requireSlot(em: EntityManager, deps: Deps, site: Site, slot: number): Promise<void> {
  const { preview_slots: slots } = deps.config.limits;
  if (slot < 1 || slot > slots) throw errors.invalid_slot(`A site has the preview slots 1 to ${slots}.`);
  await addressOf(em, deps, site, slot);
}

/** The deployment that is seen there. */
export async function shownAt(_em: EntityManager, site: Site, _slot: number | null): Promise<string | null> {
  return site.liveDeploymentId ?? null;
}
