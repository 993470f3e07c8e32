import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';

/** An account with access to another owner's site. This row is its only permission. */
export const Collaborator = defineEntity({
  name: 'Collaborator',
  properties: {
    site: () => p.manyToOne(Site).primary(),
    account: () => p.manyToOne(Account).primary(),
    since: p.datetime(),
  },
});
export type Collaborator = InferEntity<typeof Collaborator>;
