/** Acts on preview slots in the history of a site. */
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Clock } from '#runtime/clock.ts';
import { type ActedBy, recordAct } from './recording.ts';

/** A preview slot has no id of its own. */
export const previewSubject = (site: Pick<Site, 'id'>, slot: number) => ({
  id: `${site.id}/${slot}`,
  name: `preview ${slot}`,
});

/** The entry of a cleared slot. `discarded`: with work that was not published. */
export function recordCleared(
  tx: EntityManager,
  clock: Clock,
  by: ActedBy,
  { site, slot, discarded }: { site: Site; slot: number; discarded: boolean },
): void {
  recordAct(tx, clock, by, 'preview.cleared', { site, subject: previewSubject(site, slot), detail: { discarded } });
}
