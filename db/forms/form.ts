import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { FieldKind, FormStatus } from '#rules/states.ts';

export type FormField = {
  name: string;
  label: string;
  kind: FieldKind;
  required: boolean;
  /** Only for `select`, `radio` and `checkboxes`. */
  options?: string[] | undefined;
  /** Only for text kinds. */
  max_length?: number | undefined;
  /** Visitors are no longer asked. The column of earlier answers is kept. */
  retired?: boolean | undefined;
};

/** The fields that visitors see. */
export const askedFields = (fields: readonly FormField[]): FormField[] => fields.filter(({ retired }) => !retired);

/** A form on a site's pages. Anyone who has its id may send to it. */
export const Form = defineEntity({
  name: 'Form',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    name: p.text(),
    status: p.text().$type<FormStatus>(),
    fields: p.json().$type<FormField[]>(),
    /** The person who is notified of submissions; null for the site's owner. */
    notifyCollaboratorId: p.text().nullable(),
    /** The owner's texts; null for the usual ones. `fallback` is for visitors without scripts. */
    button: p.text().nullable(),
    thanks: p.text().nullable(),
    fallback: p.text().nullable(),
    /** The path to which visitors are redirected; null for the thank-you page. */
    returnPath: p.text().nullable(),
    /** The text of an e-mail to each visitor; null if none is sent. */
    acknowledgement: p.text().nullable(),
    /** The account whose address visitors reply to. Ignored unless it is the owner's or a collaborator's. */
    replyToId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type Form = InferEntity<typeof Form>;
