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
};

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
    createdAt: p.datetime(),
  },
});
export type Form = InferEntity<typeof Form>;
