import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { MailStatus } from '#rules/states.ts';
import type { MailKind } from '#web/mails/mails.ts';

/** One mail to one address. Address and words stand sealed in it until it is sent or given up, and nowhere after. */
export const Mail = defineEntity({
  name: 'Mail',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<MailKind>(),
    status: p.text().$type<MailStatus>(),
    sealed: p.blob().nullable(),
    /** Why it was given up, in our own words. */
    failure: p.text().nullable(),
    /** Whose it is: of a site, of an account, or of nobody who has one. */
    siteId: p.text().nullable(),
    accountId: p.text().nullable(),
    createdAt: p.datetime(),
    settledAt: p.datetime().nullable(),
  },
});
export type Mail = InferEntity<typeof Mail>;
