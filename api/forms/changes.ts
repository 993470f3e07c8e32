/** Which changes of a form's fields keep stored submissions readable. Pure. */

import type { FormField } from '#db/forms/form.ts';
import { call } from '#rules/calls/calls.ts';
import { errors } from '#runtime/errors.ts';

/** `answered`: names that stored submissions have values for. Throws `form_fields_removed`, `form_has_submissions`. */
export function requireCompatible(
  { id, fields: before }: { id: string; fields: readonly FormField[] },
  after: readonly FormField[],
  answered: ReadonlySet<string>,
): void {
  const nextAction =
    `Keep the field unchanged (you can make it optional, or hide it with "retired": true), or create a new form with ${call('form.create')}. ` +
    `${call('form.submissions', { id })} returns the stored answers.`;
  for (const field of before.filter(({ name }) => answered.has(name))) {
    const same = after.find(({ name }) => name === field.name);
    const renamed = after.find((one) => one.label === field.label && !before.some(({ name }) => name === one.name));
    if (same && same.kind !== field.kind) {
      throw errors.form_has_submissions(
        `The field ${field.name} has stored answers, so its kind cannot change from ${field.kind} to ${same.kind}.`,
        { nextAction },
      );
    }
    if (!same && renamed) {
      throw errors.form_has_submissions(
        `The field ${field.name} has stored answers, so it cannot be renamed to ${renamed.name}.`,
        { nextAction },
      );
    }
    if (!same) {
      throw errors.form_fields_removed(`This change would remove the field ${field.name}, which has stored answers.`, {
        nextAction,
      });
    }
  }
}
