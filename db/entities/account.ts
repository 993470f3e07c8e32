import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A person or agent's owner: everything belongs to an account. `email` is kept in lower case. */
export const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    email: p.text().unique(),
    createdAt: p.datetime(),
  },
});
export type Account = InferEntity<typeof Account>;
