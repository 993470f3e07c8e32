/** The choice of a direction by a person who has the address of the sketch. */

import { HistoryEntry } from '#db/history/history-entry.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import { directionAt, Sketch, SketchHost } from '#db/sketches/sketch.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

/** Changes of the choice in an hour. Scaled by `FRONTAGE_RATE_SCALE`. */
const perHour = 20;

/**
 * Records the choice of the direction at this position, of the sketch whose overview has this host label. A later choice
 * replaces it; the same one changes nothing. Throws `not_found`, `rate_limited`. Returns the direction's name.
 */
export async function chooseDirection(
  em: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  { label, position }: { label: string; position: number },
): Promise<string> {
  const { clock } = deps;
  return await em.transactional(async (tx) => {
    const sketch = await lockShown(tx, label);
    const chosen = directionAt(sketch, position);
    if (!chosen) throw errors.not_found('This page has no such design direction.');
    if (sketch.chosenPosition === position) return chosen.name;
    await requireBelowLimit(tx, deps, sketch);
    tx.assign(sketch, { chosenPosition: position, chosenAt: clock.now() });
    const { id, title, account } = sketch;
    // Anybody with the address may have been the one.
    recordAct(tx, clock, platformFor(account.id), 'sketch.chosen', {
      subject: { id, name: title },
      detail: { direction: chosen.name },
    });
    await notifyInbox(tx, account.id);
    return chosen.name;
  });
}

async function lockShown(tx: EntityManager, label: string): Promise<Sketch> {
  const host = await tx.findOne(SketchHost, { label, position: 0 });
  if (host) await tx.execute('select 1 from sketch where id = ? for update', [host.sketch.id]);
  const shown = host && { id: host.sketch.id, status: 'shown' as const, account: { blockedAt: null } };
  const sketch = shown && (await tx.findOne(Sketch, shown, { populate: ['hosts'], refresh: true }));
  if (sketch) return sketch;
  throw errors.not_found('The design directions are no longer shown. Ask the person who sent you the link.');
}

async function requireBelowLimit(tx: EntityManager, { clock, config }: Pick<Deps, 'clock' | 'config'>, sketch: Sketch) {
  await requireBelowHourlyLimit(clock, {
    limit: Math.ceil(perHour * config.rateScale),
    message: 'The choice was changed too often within an hour. Please try again later.',
    async createdAt(since, offset) {
      const acts = { ownerId: sketch.account.id, siteId: null, subjectId: sketch.id, at: { $gt: since } };
      const newest = { orderBy: { at: 'desc' }, offset, limit: 1 } as const;
      return (await tx.find(HistoryEntry, { ...acts, action: 'sketch.chosen' }, newest))[0]?.at;
    },
  });
}
