/** Parts of the booking form. */
import { make } from '#web/dom.js';

/**
 * A label above an input.
 * @param {string} label
 * @param {HTMLElement} input
 */
export function field(label, input) {
  return make('label', { className: 'field' }, make('span', { className: 'label', textContent: label }), input);
}

/**
 * The options of a select.
 * @param {readonly { key: string, name: string }[]} list
 */
export function optionsOf(list) {
  return list.map(({ key, name }) => make('option', { value: key, textContent: name }));
}
