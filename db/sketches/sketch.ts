import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';

/** Design directions that an owner can compare. */
export const Sketch = defineEntity({
  name: 'Sketch',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    title: p.text(),
    status: p.text().$type<'shown' | 'removed'>(),
    createdAt: p.datetime(),
    removedAt: p.datetime().nullable(),
    /** When its content was scanned. */
    scannedAt: p.datetime().nullable(),
    /** The position of the direction that a person with the link has chosen, and when. */
    chosenPosition: p.integer().nullable(),
    chosenAt: p.datetime().nullable(),
    hosts: () => p.oneToMany(SketchHost).mappedBy('sketch').orderBy({ position: 'asc' }),
  },
});
export type Sketch = InferEntity<typeof Sketch>;

/** A host of a sketch: of one direction or, at position 0, of the page that shows all of them. */
export const SketchHost = defineEntity({
  name: 'SketchHost',
  properties: {
    label: p.text().primary(),
    sketch: () => p.manyToOne(Sketch),
    position: p.integer(),
    name: p.text(),
    note: p.text().nullable(),
    sha256: p.text().nullable(),
  },
});
export type SketchHost = InferEntity<typeof SketchHost>;

/** The direction at this position, of a sketch with its hosts. */
export function directionAt({ hosts }: Sketch, position: number): SketchHost | undefined {
  if (position === 0) return undefined;
  return hosts.getItems().find((host) => host.position === position) as SketchHost | undefined;
}

/** The direction that was chosen, if any. */
export function chosenDirection(sketch: Sketch): SketchHost | undefined {
  return directionAt(sketch, sketch.chosenPosition ?? 0);
}
