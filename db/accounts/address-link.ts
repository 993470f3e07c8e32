import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { EmailChange } from './email-change.ts';

/** `old`: confirms or stops a change, from the old address. `new`: confirms it from the new one. `undo`: from the old one. */
export type AddressLinkSide = 'old' | 'new' | 'undo';

/** An e-mailed link about a change of address. Its page acts only on the code that the same e-mail shows. */
export const AddressLink = defineEntity({
  name: 'AddressLink',
  properties: {
    id: p.text().primary(),
    change: () => p.manyToOne(EmailChange),
    side: p.text().$type<AddressLinkSide>(),
    hash: p.blob().unique(),
    codeHash: p.blob(),
    wrongCodes: p.integer().default(0),
    createdAt: p.datetime(),
  },
});
export type AddressLink = InferEntity<typeof AddressLink>;
