import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { MailStatus } from '#rules/states.ts';
import type { MailKind } from '#web/mails/mails.ts';

/** One e-mail to one address. Address and text are stored only here, encrypted, until it is sent or has failed. */
export const Mail = defineEntity({
  name: 'Mail',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<MailKind>(),
    status: p.text().$type<MailStatus>(),
    /** Not loaded with lists: it is larger than all the rest. */
    sealed: p.blob().nullable().lazy(),
    /** Why sending was abandoned, in our own words. */
    failure: p.text().nullable(),
    /** The site or account that it belongs to; both are null where the recipient has neither. */
    siteId: p.text().nullable(),
    accountId: p.text().nullable(),
    /** Of an e-mail to an address that may have no account, for a day: a keyed hash of the address, by which it is counted. */
    recipientHash: p.blob().nullable(),
    /** Of the acknowledgement of a submission; the form may be deleted. */
    formId: p.text().nullable(),
    /** Of a later e-mail about a booking. */
    bookingId: p.text().nullable(),
    /** When it is sent, of a later e-mail about a booking or one to a site's owner, which may have to wait. */
    sendAt: p.datetime().nullable(),
    /**
     * Attempts that handed the whole mail over and whose reply is unknown, because the process or the connection ended.
     * Each may have delivered a copy.
     */
    unanswered: p.integer().default(0),
    createdAt: p.datetime(),
    settledAt: p.datetime().nullable(),
  },
});
export type Mail = InferEntity<typeof Mail>;
