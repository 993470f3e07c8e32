import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Mail } from '#db/mail/mail.ts';
import { Form } from './form.ts';

/** A field's value: a text, or several if the field accepts several. */
export type SubmittedValue = [name: string, value: string | string[]];

/** A submission. After `expiresAt` it is hidden, even if not deleted yet. */
export const Submission = defineEntity({
  name: 'Submission',
  properties: {
    id: p.text().primary(),
    form: () => p.manyToOne(Form),
    values: p.json().$type<SubmittedValue[]>(),
    /** For the inbox: who sent it, and the beginning of the values in one line; null where it was imported. */
    sender: p.text().nullable(),
    opening: p.text().nullable(),
    /** The page it was sent from, a path of the site. */
    page: p.text().nullable(),
    /** The notification; null where none is sent. */
    mail: () => p.manyToOne(Mail).nullable(),
    /** The e-mail to the visitor; null where none was queued. */
    acknowledgement: () => p.manyToOne(Mail).nullable(),
    /** Marked by the owner or a collaborator. */
    spam: p.boolean().default(false),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type Submission = InferEntity<typeof Submission>;
