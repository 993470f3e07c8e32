/** Sketches on which a direction was chosen, until they are removed. */
import { call } from '#rules/calls/calls.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { notDone } from './done.ts';
import { newsSince, type Source } from './item.ts';

const sql = `
  select sketch.id, sketch.title, sketch.chosen_at as at, coalesce(direction.name, '') as name,
    (select label from sketch_host where sketch_id = sketch.id and position = 0) as label
  from sketch
  left join sketch_host direction on direction.sketch_id = sketch.id and direction.position = sketch.chosen_position
    and direction.position > 0
  where sketch.account_id = ? and sketch.status = 'shown' and sketch.chosen_at > ?
    and ${notDone({ kind: 'sketch_chosen', id: 'sketch.id', at: 'sketch.chosen_at' })}
  order by sketch.chosen_at desc limit ?`;

type Row = Record<'id' | 'title' | 'at' | 'name', string> & { label: string | null };

/** Sketches belong to no site: a reader that is limited to some sites does not see them. */
export const chosenSketches: Source<Row> = {
  kind: 'sketch_chosen',
  select({ accountId, scope }, since, { now, limit }) {
    if (scope.sites !== 'all') return null;
    return { sql, values: [accountId, newsSince(since, now), accountId, limit] };
  },
  item({ id, title, at, name, label }, _, { config }) {
    return {
      id,
      site: null,
      at: new Date(at),
      title: `The direction “${name}” of the sketch “${title}” was chosen.`,
      message: name,
      ...(label ? { address: `${siteAddress(config, label)}/` } : {}),
      nextAction: `Confirm it with the owner and build this direction. When it is decided, remove the sketch with ${call('sketch.delete', { id })}.`,
    };
  },
};
