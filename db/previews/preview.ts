import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';

/**
 * One life of a preview slot, from its first build until it is cleared or its time is over. `deploymentId` is the draft that is served
 * at the host `label`, `latestId` the build that was asked for last, whatever came of it.
 */
export const Preview = defineEntity({
  name: 'Preview',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    slot: p.integer(),
    label: p.text().unique(),
    latestId: p.text(),
    deploymentId: p.text().nullable(),
    /** From when the draft is marked for removal, and shown no more. */
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    removedAt: p.datetime().nullable(),
  },
});
export type Preview = InferEntity<typeof Preview>;
