/** The errors of a form: a list above the fields, with links to them, and a message at each field. */
import { make } from '#web/dom.js';

/**
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 * @typedef {{ control: Control, label: string, text: string }} FieldError
 */

/**
 * The errors that the browser knows of, in its own words: one for each field or group.
 * @param {HTMLFormElement} form
 * @returns {FieldError[]}
 */
export function invalidFields(form) {
  const invalid = controlsOf(form).filter(({ willValidate, validity }) => willValidate && !validity.valid);
  return invalid.map((control) => ({ control, label: labelOf(control), text: control.validationMessage }));
}

/**
 * The errors in the server's message, of which each begins with the label of its field.
 * @param {string} message
 * @param {HTMLFormElement} form
 * @returns {FieldError[]}
 */
export function refusedFields(message, form) {
  const sentences = `. ${message}`;
  const found = controlsOf(form).map((control) => {
    const label = labelOf(control);
    return { control, label, at: label ? sentences.indexOf(`. ${label}: `) : -1 };
  });
  const errors = found.filter(({ at }) => at >= 0).sort((one, other) => one.at - other.at);
  return errors.map(({ control, label, at }, index) => {
    const end = errors[index + 1]?.at;
    return { control, label, text: sentences.slice(at + label.length + 4, end && end + 1) };
  });
}

export class ErrorList {
  #title = make('p');
  #list = make('ul');
  element = make('div', { className: 'errors', part: 'errors', role: 'group', tabIndex: -1, hidden: true });
  /** @type {(() => void)[]} */
  #undo = [];

  /** @param {string} title */
  constructor(title) {
    this.#title.textContent = title;
    this.element.setAttribute('aria-label', title);
    this.element.append(this.#title, this.#list);
  }

  clear() {
    this.element.hidden = true;
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** @param {readonly FieldError[]} errors shows them and moves the focus to the list */
  show(errors) {
    this.clear();
    for (const error of errors) this.#undo.push(mark(error));
    this.#list.replaceChildren(...errors.map(entry));
    this.element.hidden = false;
    this.element.focus();
  }
}

/** @param {FieldError} error */
function entry({ control, label, text }) {
  const onclick = (/** @type {MouseEvent} */ event) => {
    event.preventDefault();
    control.focus();
  };
  return make('li', {}, make('a', { href: `#${control.id}`, onclick }, sentence({ label, text })));
}

/** @param {{ label: string, text: string }} error */
export const sentence = ({ label, text }) => `${label}${label && !/[?!:.]$/.test(label) ? ':' : ''} ${text}`.trim();

/**
 * Shows the message at the field. Returns what removes it.
 * @param {FieldError} error
 */
function mark({ control, text }) {
  control.id ||= `frontage-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const id = `${control.id}-error`;
  const message = make('p', { className: 'error', part: 'error', id }, text);
  (control.closest('fieldset') ?? control.closest('label') ?? control).after(message);
  const described = control.getAttribute('aria-describedby');
  control.setAttribute('aria-describedby', described ? `${described} ${id}` : id);
  // A radio button has no such attribute: its group has.
  if (control.type !== 'radio') control.setAttribute('aria-invalid', 'true');
  return () => {
    message.remove();
    control.removeAttribute('aria-invalid');
    if (described) control.setAttribute('aria-describedby', described);
    else control.removeAttribute('aria-describedby');
  };
}

/**
 * The fields, of a group its first.
 * @param {HTMLFormElement} form
 */
function controlsOf(form) {
  // A field named querySelectorAll would hide the form's own method.
  const all = HTMLFormElement.prototype.querySelectorAll.call(form, 'input:not([type=hidden]), select, textarea');
  const groups = new Set();
  return /** @type {Control[]} */ ([...all]).filter(({ type, name }) => {
    if (type !== 'radio' && type !== 'checkbox') return true;
    return !groups.has(name) && Boolean(groups.add(name));
  });
}

/**
 * The visible name of a field or of its group, without “(optional)”.
 * @param {Control} control
 */
function labelOf(control) {
  const isGrouped = control.type === 'radio' || (control.type === 'checkbox' && control.closest('fieldset'));
  const label = (isGrouped ? control.closest('fieldset')?.querySelector('legend') : undefined) ?? control.labels?.[0];
  const copy = /** @type {Element | undefined} */ (label?.cloneNode(true));
  for (const part of copy?.querySelectorAll('small, input, select, textarea') ?? []) part.remove();
  return copy?.textContent?.trim() ?? control.getAttribute('aria-label') ?? '';
}
