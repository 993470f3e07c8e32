import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * A stock photo from a search result. `reference` is the library's own id; responses never contain the library's
 * addresses.
 */
export const Photo = defineEntity({
  name: 'Photo',
  properties: {
    id: p.text().primary(),
    library: p.text(),
    reference: p.text(),
    description: p.text(),
    width: p.integer(),
    height: p.integer(),
    creditName: p.text(),
    creditUrl: p.text(),
    pageUrl: p.text(),
    fileUrl: p.text(),
    thumbUrl: p.text(),
    createdAt: p.datetime(),
  },
});
export type Photo = InferEntity<typeof Photo>;
