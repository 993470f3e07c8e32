/** The fields for the visitor's details and the service's questions. */
import { make } from '#web/dom.js';
import { field } from './dom.js';

/**
 * @param {import('./api.js').Service} service
 * @param {import('./words.js').Words} words
 * @param {{ notices: boolean, typed: FormData }} options whether the visitor can ask for e-mails, and what they typed before
 */
export function detailFields({ seats_max: max, intake }, words, { notices, typed }) {
  const seats = { type: 'number', name: 'seats', min: '1', max: String(max), value: '1', required: true };
  const value = (/** @type {string} */ name) => String(typed.get(name) ?? '');
  const name = { name: 'name', autocomplete: 'name', maxLength: 100, required: true, value: value('name') };
  const address = { type: 'email', name: 'email', autocomplete: 'email', value: value('email') };
  return [
    make('legend', { textContent: words.who }),
    ...(max > 1 ? [field(words.seats, make('input', seats))] : []),
    field(words.name, make('input', name)),
    field(words.email, make('input', { ...address, maxLength: 254, required: true })),
    ...intake.filter(({ kind }) => kind !== 'hidden').map((question) => intakeField(question, words)),
    ...(notices ? noticeBoxes(words, typed) : []),
  ];
}

/**
 * @param {import('./words.js').Words} words
 * @param {FormData} typed
 */
function noticeBoxes(words, typed) {
  const box = (/** @type {string} */ name) => make('input', { type: 'checkbox', name, checked: typed.has(name) });
  return [choice(box('notify_changes'), words.notifyChanges), choice(box('remind'), words.remind)];
}

/**
 * @param {import('./api.js').IntakeField} question
 * @param {{ optional: string }} words
 */
function intakeField({ name, label, kind, required, options = [], max_length: maxLength }, { optional }) {
  const named = { name: `intake.${name}`, required };
  const title = required ? label : `${label} (${optional})`;
  const limit = maxLength ? { maxLength } : {};
  if (kind === 'textarea') return field(title, make('textarea', { ...named, rows: 3, ...limit }));
  if (kind === 'select') {
    const choices = ['', ...options].map((value) => make('option', { value, textContent: value }));
    return field(title, make('select', named, ...choices));
  }
  if (kind === 'checkbox') return choice(make('input', { ...named, type: 'checkbox', value: 'yes' }), title);
  if (kind === 'radio' || kind === 'checkboxes') {
    const type = kind === 'radio' ? 'radio' : 'checkbox';
    const isRequired = required && type === 'radio';
    const choices = options.map((value) =>
      choice(make('input', { ...named, type, value, required: isRequired }), value),
    );
    return make('fieldset', {}, make('legend', { textContent: title }), ...choices);
  }
  const step = kind === 'number' ? { step: 'any' } : {};
  return field(title, make('input', { ...named, type: kind, ...step, ...limit }));
}

/**
 * @param {HTMLInputElement} input
 * @param {string} text
 */
function choice(input, text) {
  return make('label', { className: 'check' }, input, make('span', { textContent: text }));
}

/**
 * The booking in a submitted form.
 * @param {FormData} data
 * @param {import('./api.js').Service} service
 */
export function bookingIn(data, { intake }) {
  return {
    service: data.get('service'),
    calendar: data.get('calendar'),
    start: data.get('start'),
    seats: Number(data.get('seats') ?? 1),
    visitor: visitorIn(data),
    intake: intakeAnswers(intake, data),
  };
}

/**
 * The answers in a submitted form.
 * @param {readonly import('./api.js').IntakeField[]} questions
 * @param {FormData} data
 */
function intakeAnswers(questions, data) {
  /** @type {Record<string, FormDataEntryValue | FormDataEntryValue[]>} */
  const answers = {};
  for (const { name, kind } of questions) {
    const given = data.getAll(`intake.${name}`).filter((value) => value !== '');
    const [first] = given;
    if (first !== undefined) answers[name] = kind === 'checkboxes' ? given : first;
  }
  return answers;
}

/**
 * The visitor's details in a submitted form, with their time zone.
 * @param {FormData} data
 */
function visitorIn(data) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    name: data.get('name'),
    email: data.get('email'),
    notify_changes: data.has('notify_changes'),
    remind: data.has('remind'),
    ...(timeZone ? { time_zone: timeZone } : {}),
  };
}
