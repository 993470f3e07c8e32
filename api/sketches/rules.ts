/** Sketches: served on unguessable hosts until they are deleted. */

import type { z } from 'zod';
import type { Actor } from '#api/access.ts';
import { newestFirst } from '#api/pagination.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Account } from '#db/accounts/account.ts';
import { type ActedBy, platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
import { Sketch, SketchHost } from '#db/sketches/sketch.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newHostLabel } from '#runtime/ids.ts';
import type { sketchInput } from './schemas.ts';

/** Throws `plan_limit` at the limit of sketches. */
export async function createSketch(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, title, directions }: z.output<typeof sketchInput> & { id: string },
): Promise<Sketch> {
  const requireRoom = (tx: EntityManager) =>
    countWithinLimit(tx, deps, {
      limit: 'sketches',
      accountId: actor.accountId,
      count: () => tx.count(Sketch, { account: actor.accountId, status: 'shown' }),
      what: 'sketches',
      nextAction: `Remove a sketch with ${call('sketch.delete')}.`,
    });
  // The store keeps every blob: check the limit before storing.
  await requireRoom(em);
  const blobs = await Promise.all(directions.map(({ html }) => deps.store.put(Buffer.from(html))));
  await deps.store.flush();
  return await em.transactional(async (tx) => {
    await requireRoom(tx);
    const account = tx.getReference(Account, actor.accountId);
    const sketch = tx.create(Sketch, { id, account, title, status: 'shown', createdAt: deps.clock.now() });
    tx.create(SketchHost, { label: newHostLabel('sketch'), sketch, position: 0, name: title });
    for (const [index, { name, note }] of directions.entries()) {
      const sha256 = blobs[index]?.sha256 ?? null;
      tx.create(SketchHost, {
        label: newHostLabel('sketch'),
        sketch,
        position: index + 1,
        name,
        note: note || null,
        sha256,
      });
    }
    await tx.flush();
    startScan(tx, deps.clock, sketch);
    recordAct(tx, deps.clock, actor, 'sketch.created', { subject: { id, name: title } });
    return await tx.refreshOrFail(sketch, { populate: ['hosts'] });
  });
}

/**
 * Reads a page of the account's sketches. They belong to no site, so a token that is limited to some sites sees none.
 */
export function sketchesOf(em: EntityManager, { accountId, scope }: Actor, status: Sketch['status'] | undefined) {
  const hidden = scope.sites === 'all' ? {} : { id: { $in: [] } };
  const where = { account: accountId, ...(status ? { status } : {}), ...hidden };
  const read = newestFirst(em, Sketch, where);
  return async (after: string | undefined, limit: number) =>
    await em.populate(await read(after, limit), ['hosts'], { orderBy: { hosts: { position: 'asc' } } });
}

export async function loadSketch(em: EntityManager, actor: Actor, id: string): Promise<Sketch> {
  const sketch = isId('sketch', id)
    ? await em.findOne(Sketch, { id, account: actor.accountId }, { populate: ['hosts'] })
    : null;
  if (sketch) return sketch;
  throw errors.not_found('No sketch with this id is accessible with this token.', {
    nextAction: `Call ${call('sketch.list')} to list the sketches of this account.`,
  });
}

/** From now on no edge serves it. Deleting a deleted sketch changes nothing. */
export async function removeSketch(em: EntityManager, { clock }: Deps, actor: Actor, id: string): Promise<Sketch> {
  return await removeFiles(em, clock, actor, await loadSketch(em, actor, id));
}

/** The same for an operator, who knows its id or the address of one of its pages. Throws `not_found`. */
export async function blockSketch(em: EntityManager, { clock }: Pick<Deps, 'clock'>, named: string): Promise<Sketch> {
  const label = (URL.canParse(named) ? new URL(named).hostname : named).split('.')[0] ?? '';
  const where = isId('sketch', named) ? { id: named } : { hosts: { label } };
  const sketch = await em.findOne(Sketch, where);
  if (!sketch) throw errors.not_found('There is no sketch with this id or address.');
  return await removeFiles(em, clock, platformFor(sketch.account.id), sketch);
}

async function removeFiles(em: EntityManager, clock: Deps['clock'], by: ActedBy, sketch: Sketch): Promise<Sketch> {
  if (sketch.status === 'removed') return sketch;
  sketch.status = 'removed';
  sketch.removedAt = clock.now();
  recordAct(em, clock, by, 'sketch.removed', { subject: { id: sketch.id, name: sketch.title } });
  await em.flush();
  return sketch;
}
