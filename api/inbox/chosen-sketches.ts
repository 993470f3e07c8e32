/** Sketches on which a direction was chosen, until they are removed. */

import { chosenDirection, Sketch } from '#db/sketches/sketch.ts';
import { call } from '#rules/calls/calls.ts';
import { unfinished } from './done.ts';
import { type InboxItem, newsSince, type Source } from './item.ts';

/** Sketches belong to no site: a reader that is limited to some sites does not see them. */
export const chosenSketches: Source = async (em, { accountId, scope }, since, { now, limit }) => {
  if (scope.sites !== 'all') return [];
  const sketches = await em.find(
    Sketch,
    {
      account: accountId,
      status: 'shown',
      chosenAt: { $gt: newsSince(since, now) },
      [unfinished(accountId, { kind: 'sketch_chosen', at: 'chosen_at' })]: [],
    },
    { populate: ['hosts'], orderBy: { chosenAt: 'desc' }, limit, refresh: true },
  );
  return sketches.map((sketch): InboxItem => {
    const { id, title, chosenAt } = sketch;
    const name = chosenDirection(sketch)?.name ?? '';
    return {
      kind: 'sketch_chosen',
      id,
      site: null,
      at: chosenAt as Date,
      title: `The direction “${name}” of the sketch “${title}” was chosen.`,
      message: name,
      nextAction: `Confirm it with the owner and build this direction. When it is decided, remove the sketch with ${call('sketch.delete', { id })}.`,
    };
  });
};
