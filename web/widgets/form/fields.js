/** The fields of a form that is built from its description. */
import { make } from './dom.js';

/**
 * @typedef {{ name: string, label: string, kind: string, required: boolean, options?: string[], max_length?: number }} Field
 */

/**
 * @param {Field} field
 * @param {import('./words.js').Words} words
 */
export function fieldOf({ name, label, kind, required, options = [], max_length: maxlength }, words) {
  if (kind === 'hidden') return make('input', { type: 'hidden', name });
  const note = required ? undefined : make('small', {}, ` (${words.optional})`);
  if (kind === 'checkbox') return choice({ type: 'checkbox', name, value: 'yes', required }, label);
  if (kind === 'radio' || kind === 'checkboxes') {
    const type = kind === 'radio' ? 'radio' : 'checkbox';
    const isRequired = type === 'radio' && required;
    const choices = options.map((value) => choice({ type, name, value, required: isRequired }, value));
    return make('fieldset', {}, make('legend', {}, label, note), ...choices);
  }
  return make('label', {}, make('span', {}, label, note), inputOf({ name, kind, required, options, maxlength }, words));
}

/**
 * @param {Record<string, string | boolean>} attributes
 * @param {string} text
 */
function choice(attributes, text) {
  return make('label', { class: 'choice', part: 'choice' }, make('input', attributes), text);
}

/** @type {Record<string, Record<string, string>>} */
const attributesOfKind = {
  email: { autocomplete: 'email' },
  tel: { autocomplete: 'tel' },
  url: { autocomplete: 'url' },
  number: { step: 'any' },
};

/**
 * @param {{ name: string, kind: string, required: boolean, options: string[], maxlength: number | undefined }} field
 * @param {import('./words.js').Words} words
 */
function inputOf({ name, kind, required, options, maxlength }, words) {
  const common = { name, required, part: 'input' };
  if (kind === 'textarea') return make('textarea', { ...common, rows: 6, maxlength });
  if (kind === 'select') {
    const empty = make('option', { value: '' }, words.choose);
    return make('select', common, empty, ...options.map((option) => make('option', {}, option)));
  }
  return make('input', { ...common, type: kind, maxlength, ...attributesOfKind[kind] });
}
