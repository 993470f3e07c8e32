import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { AssetSource } from '#rules/states.ts';

/**
 * A file that was added without git. `oid` is the git id of its bytes. The row counts only while the source repository
 * has these bytes at `path`, so it may be written before the commit.
 */
export const Asset = defineEntity({
  name: 'Asset',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    path: p.text(),
    oid: p.text(),
    bytes: p.bigint('number'),
    sha256: p.text(),
    source: p.text().$type<AssetSource>(),
    createdAt: p.datetime(),
  },
});
export type Asset = InferEntity<typeof Asset>;
