/** The fields of a form that is built from its description. */
import { make } from '#web/dom.js';

/**
 * @typedef {{ name: string, label: string, kind: string, required: boolean, options?: string[], max_length?: number }} Field
 */

/**
 * @param {Field} field
 * @param {import('./words.js').Words} words
 */
export function fieldOf({ name, label, kind, required, options = [], max_length: maxLength }, words) {
  if (kind === 'hidden') return make('input', { type: 'hidden', name });
  const note = required ? undefined : make('small', {}, ` (${words.optional})`);
  if (kind === 'checkbox') return choice({ type: 'checkbox', name, value: 'yes', required }, label);
  if (kind === 'radio' || kind === 'checkboxes') {
    const type = kind === 'radio' ? 'radio' : 'checkbox';
    const isRequired = type === 'radio' && required;
    const choices = options.map((value) => choice({ type, name, value, required: isRequired }, value));
    return make('fieldset', {}, make('legend', {}, label, note), ...choices);
  }
  return make('label', {}, make('span', {}, label, note), inputOf({ name, kind, required, options, maxLength }, words));
}

/**
 * @param {Record<string, string | boolean>} props
 * @param {string} text
 */
function choice(props, text) {
  return make('label', { className: 'choice', part: 'choice' }, make('input', props), text);
}

/** @type {Record<string, Record<string, string>>} */
const propsOfKind = {
  email: { autocomplete: 'email' },
  tel: { autocomplete: 'tel' },
  url: { autocomplete: 'url' },
  number: { step: 'any' },
};

/**
 * @param {{ name: string, kind: string, required: boolean, options: string[], maxLength: number | undefined }} field
 * @param {import('./words.js').Words} words
 */
function inputOf({ name, kind, required, options, maxLength }, words) {
  const common = { name, required, part: 'input' };
  if (kind === 'textarea') return make('textarea', { ...common, rows: 6, maxLength });
  if (kind === 'select') {
    const empty = make('option', { value: '' }, words.choose);
    return make('select', common, empty, ...options.map((option) => make('option', {}, option)));
  }
  return make('input', { ...common, type: kind, maxLength, ...propsOfKind[kind] });
}
