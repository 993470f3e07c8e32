/** Form fields as HTML: on our own pages with the visitor's answers, and as text to paste into a site. */
import type { FormField } from '#db/forms/form.ts';
import { type Html, html } from '#web/html.ts';

export type Answered = {
  /** The visitor's values. */
  typed?: readonly string[];
  fault?: string;
};

/** A field with its label. `max_length` is the server's limit. */
export function fieldHtml(field: FormField, { typed = [], fault }: Answered = {}): Html {
  const { name, kind, label } = field;
  const message = fault === undefined ? null : html`\n<small class="told" id="${idOf(name)}">${fault}</small>`;
  const marks =
    fault === undefined ? null : html` id="${fieldId(name)}" aria-invalid="true" aria-describedby="${idOf(name)}"`;
  if (kind === 'hidden') return html`<input type="hidden" name="${name}" value="${typed[0] ?? ''}">`;
  if (kind === 'checkbox') {
    const checked = typed.length > 0 && !['', 'no', 'off', 'false', '0'].includes(typed[0] ?? '');
    return html`<label class="choice"><input type="checkbox" name="${name}" value="yes"${required(field)}${checked ? html` checked` : null}${marks}> ${label}</label>${message}`;
  }
  if (kind === 'radio' || kind === 'checkboxes') return groupHtml(field, typed, { marks, message });
  return html`<label><span>${label}${field.required ? null : html` <small>(optional)</small>`}</span>
${inputHtml(field, typed[0] ?? '', marks)}${message}</label>`;
}

function inputHtml(field: FormField, typed: string, marks: Html | null): Html {
  const { name, kind, options = [], max_length } = field;
  const length = kind === 'number' || kind === 'date' || !max_length ? null : html` maxlength="${max_length}"`;
  if (kind === 'textarea') {
    // A leading line feed in a textarea is ignored (HTML standard, section 4.10.11).
    return html`<textarea name="${name}" rows="6"${length}${required(field)}${marks}>\n${typed}</textarea>`;
  }
  if (kind === 'select') {
    const choices = options.map(
      (option) => html`\n<option${option === typed ? html` selected` : null}>${option}</option>`,
    );
    return html`<select name="${name}"${required(field)}${marks}>\n<option value=""></option>${choices}\n</select>`;
  }
  const step = kind === 'number' ? html` step="any"` : null;
  const fill = autofill(field);
  return html`<input type="${kind}" name="${name}"${length}${step}${fill ? html` autocomplete="${fill}"` : null}${required(field)}${typed === '' ? null : html` value="${typed}"`}${marks}>`;
}

function groupHtml(
  field: FormField,
  typed: readonly string[],
  { marks, message }: { marks: Html | null; message: Html | null },
): Html {
  const type = field.kind === 'radio' ? 'radio' : 'checkbox';
  const needed = type === 'radio' ? required(field) : null;
  const choices = (field.options ?? []).map(
    (option) =>
      html`\n<label class="choice"><input type="${type}" name="${field.name}" value="${option}"${needed}${typed.includes(option) ? html` checked` : null}> ${option}</label>`,
  );
  return html`<fieldset${marks}${marks ? html` tabindex="-1"` : null}>\n<legend>${field.label}${field.required ? null : html` <small>(optional)</small>`}</legend>${choices}${message}\n</fieldset>`;
}

const required = ({ required }: FormField): Html | null => (required ? html` required` : null);
const idOf = (name: string): string => `about-${name}`;

/** Of a field with a fault: the id of its input or fieldset. */
export const fieldId = (name: string): string => `field-${name}`;

/** The autofill field name (HTML standard). */
function autofill({ name, kind }: FormField): string | undefined {
  if (kind === 'email' || kind === 'tel' || kind === 'url') return kind;
  return kind === 'text' && /^(your-?)?(full-?)?name$/i.test(name) ? 'name' : undefined;
}
