import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Deployment } from '#db/deployments/deployment.ts';
import { Site } from '#db/sites/site.ts';
import { Sketch } from '#db/sketches/sketch.ts';

const flagKinds = [
  'password_form',
  'password_sent',
  'redirect',
  'wallet_drainer',
  'seed_phrase',
  'brand_signin',
  'unread',
] as const;
export type FlagKind = (typeof flagKinds)[number];

/**
 * What a scan found in a file of a site or a sketch, for review by the operator: one flag per file and kind, with the
 * newest bytes.
 */
export const Flag = defineEntity({
  name: 'Flag',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site).nullable(),
    sketch: () => p.manyToOne(Sketch).nullable(),
    /** The version in which these bytes were seen first. */
    deployment: () => p.manyToOne(Deployment).nullable(),
    path: p.text(),
    kind: p.text().$type<FlagKind>(),
    sha256: p.text(),
    excerpt: p.text(),
    foundAt: p.datetime(),
    /**
     * Hashes that the operator dismissed, the newest last. The flag is open while its current hash is not among them.
     */
    dismissed: p.array<string>(),
    dismissedAt: p.datetime().nullable(),
    dismissedBecause: p.text().nullable(),
  },
});
export type Flag = InferEntity<typeof Flag>;
