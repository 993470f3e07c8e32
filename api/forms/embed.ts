/** A form's address, and its HTML for a page of its site. */

import { askedFields, type Form, type FormField } from '#db/forms/form.ts';
import type { Config } from '#runtime/config.ts';
import { formSnippet } from '#web/pages/visitors/form-page.ts';
import { isTyped, lengthOf } from './fields.ts';

type Base = Pick<Config, 'baseUrl'>;

export const formAddress = ({ baseUrl }: Base, formId: string): string => `${baseUrl}/f/${formId}`;

export function embedOf(config: Base, form: Pick<Form, 'id' | 'fields' | 'button' | 'fallback'>): string {
  const { id, fields, button, fallback } = form;
  const action = formAddress(config, id);
  return formSnippet(
    { action, fields: askedFields(fields).map(withLength), button, fallback },
    `${config.baseUrl}/f/widget`,
  );
}

/** A field with its maximum length. */
export const withLength = (field: FormField): FormField =>
  isTyped(field.kind) ? { ...field, max_length: lengthOf(field) } : field;
