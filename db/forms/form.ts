import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { FieldKind, FormStatus } from '#rules/states.ts';

/** One question that a visitor answers. */
export type FormField = {
  name: string;
  label: string;
  kind: FieldKind;
  required: boolean;
  /** Of `select`, `radio` and `checkboxes` alone. */
  options?: string[] | undefined;
  /** Of kinds that are typed alone. */
  max_length?: number | undefined;
};

/** A form of a site's pages. Whoever has its id may send to it. */
export const Form = defineEntity({
  name: 'Form',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    name: p.text(),
    status: p.text().$type<FormStatus>(),
    fields: p.json().$type<FormField[]>(),
    /** Who hears of an enquiry; null is the owner of the site. */
    notifyCollaboratorId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type Form = InferEntity<typeof Form>;
