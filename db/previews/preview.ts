import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';

/**
 * The preview of a slot, from its first build until it is cleared or removed. `deploymentId` is the draft that is
 * served at the host `label`; `latestId` is the most recently requested build, whatever its outcome.
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
    /** When the draft expires: it is no longer shown, and marked for removal. */
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    removedAt: p.datetime().nullable(),
  },
});
export type Preview = InferEntity<typeof Preview>;
