import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Mail } from '#db/mail/mail.ts';
import { Site } from '#db/sites/site.ts';
import type { InvitationStatus } from '#rules/states.ts';

/** An invitation to collaborate on a site. `expired` may be written late: use `invitationStatusAt`. */
export const Invitation = defineEntity({
  name: 'Invitation',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    /** In lower case. The account with this address is invited. */
    email: p.text(),
    status: p.text().$type<InvitationStatus>(),
    mail: () => p.manyToOne(Mail),
    /** The account that accepted it. */
    account: () => p.manyToOne(Account).nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    answeredAt: p.datetime().nullable(),
    /** Set with the status `withdrawn` where the invited person declined. */
    declinedAt: p.datetime().nullable(),
  },
});
export type Invitation = InferEntity<typeof Invitation>;
