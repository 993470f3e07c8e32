/** Fields of the console's forms: a refused form keeps its values, and shows the fault at its field. */
import { type Html, html } from '#web/html.ts';
import type { Frame, Refused } from './frame.ts';

export type Field = {
  name: string;
  label: string;
  /** The value of a form that was not refused. */
  value?: string;
  type?: 'text' | 'email' | 'url' | 'number' | 'date' | 'time' | 'datetime-local' | 'tel' | 'search' | 'textarea';
  hint?: string;
  required?: boolean;
  max?: number;
  autocomplete?: string;
  /** Values to choose from, with their words. */
  options?: readonly (readonly [value: string, words: string])[];
};

/** Writes fields of the form with this action. */
export function fieldsOf({ refused }: Pick<Frame, 'refused'>, action: string): (field: Field) => Html {
  const own = refused?.action === action ? refused : null;
  const prefix = action.slice(1).replaceAll('/', '-');
  return (field) => write(field, prefix, own);
}

/** Whether a box of the form was ticked; `usual` if the form was not refused. */
export function wasTicked({ refused }: Pick<Frame, 'refused'>, action: string, name: string, usual: boolean): boolean {
  return refused?.action === action ? (refused.values[name] ?? []).length > 0 : usual;
}

function write(field: Field, prefix: string, refused: Refused | null): Html {
  const { name, label, hint } = field;
  const fault = refused?.field?.name === name ? refused.field : null;
  const id = `${prefix}-${name}`;
  const described = [...(hint ? [`${id}-hint`] : []), ...(fault ? [`${id}-fault`] : [])].join(' ');
  return html`<div class="field"><label for="${id}">${label}</label>
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : null}
${input(field, refused?.values[name]?.[0], { id, described, isWrong: fault !== null })}
${fault ? html`<p class="field-fault" id="${id}-fault">${fault.words === null ? refused?.text : `${label} ${fault.words}.`}</p>` : null}</div>`;
}

type Marks = { id: string; described: string; isWrong: boolean };

function input(field: Field, typed: string | undefined, { id, described, isWrong }: Marks): Html {
  const { name, type = 'text', required, max, autocomplete, options } = field;
  const value = typed ?? field.value ?? '';
  const shared = html` id="${id}" name="${name}"${required ? html` required` : null}${described ? html` aria-describedby="${described}"` : null}${isWrong ? html` aria-invalid="true"` : null}${max && !options ? html` maxlength="${max}"` : null}${autocomplete ? html` autocomplete="${autocomplete}"` : null}`;
  if (options) {
    return html`<select${shared}>${options.map(([one, words]) => html`<option value="${one}"${one === value ? html` selected` : null}>${words}</option>`)}</select>`;
  }
  if (type === 'textarea') return html`<textarea${shared} rows="4">\n${value}</textarea>`;
  return html`<input type="${type}"${shared} value="${value}">`;
}
