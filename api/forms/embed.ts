/** A form's address, and its HTML for a page of its site. */

import type { Form, FormField } from '#db/forms/form.ts';
import type { Config } from '#runtime/config.ts';
import { formSnippet } from '#web/pages/form-page.ts';
import { isTyped, lengthOf } from './fields.ts';

type Base = Pick<Config, 'baseUrl'>;

export const formAddress = ({ baseUrl }: Base, formId: string): string => `${baseUrl}/f/${formId}`;

export function embedOf(config: Base, { id, fields }: Pick<Form, 'id' | 'fields'>): string {
  return formSnippet({ action: formAddress(config, id), fields: fields.map(withLength) }, `${config.baseUrl}/f/widget`);
}

/** A field with its maximum length. */
export const withLength = (field: FormField): FormField =>
  isTyped(field.kind) ? { ...field, max_length: lengthOf(field) } : field;
