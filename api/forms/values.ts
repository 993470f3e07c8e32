/** Validates a visitor's answers against the form's fields. Pure; all input is untrusted. */

import { isPlainEmail } from '#api/email-addresses.ts';
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { lengthOf } from './fields.ts';

/** All values by field name, in order. A Map, so that `__proto__` is an ordinary name. */
export type RawValues = ReadonlyMap<string, readonly string[]>;

/** `message` is for the visitor and begins with the field's label. */
export type Fault = { name: string; message: string };

export type ValidatedValues = { values: SubmittedValue[]; faults: Fault[] };

const extraNamesMax = 50;
const extraLengthMax = 10_000;
const extraTimesMax = 100;
const nameLengthMax = 100;

/**
 * Reports every fault at once, so that a visitor can correct all of them together. Values are in the order of the fields; empty optional
 * ones are left out. Unknown names are kept as received, or are faults if `keepUnknown` is false.
 */
export function validateValues(
  fields: readonly FormField[],
  given: RawValues,
  { keepUnknown = true } = {},
): ValidatedValues {
  const result: ValidatedValues = { values: [], faults: [] };
  for (const field of fields) {
    const answer = checkField(field, given.get(field.name) ?? []);
    if (typeof answer === 'object' && 'fault' in answer)
      result.faults.push({ name: field.name, message: answer.fault });
    else if (answer.length > 0) result.values.push([field.name, answer]);
  }
  const known = new Set(fields.map(({ name }) => name));
  const unknown = [...given].filter(([name]) => !known.has(name));
  if (unknown.length > extraNamesMax) {
    result.faults.push({
      name: '',
      message: `The message contains ${unknown.length} fields that are not part of the form.`,
    });
    return result;
  }
  for (const [name, all] of unknown) {
    const fault = keepUnknown ? faultOfExtra(name, all) : `The form has no field called ${shown(name)}.`;
    const said = all.map(lines).filter((text) => text.trim() !== '');
    if (fault !== undefined) result.faults.push({ name: shown(name), message: fault });
    else if (said.length > 0) result.values.push([name, said.length === 1 ? (said[0] as string) : said]);
  }
  return result;
}

type Answer = string | string[] | { fault: string };

function checkField(field: FormField, all: readonly string[]): Answer {
  const { label, kind, required } = field;
  const said = all.map(lines).filter((text) => text.trim() !== '');
  if (said.length === 0) return required ? { fault: `${label}: please fill this in.` } : '';
  if (!said.every(isStorable)) return { fault: `${label}: this contains characters that are not allowed.` };
  if (kind === 'checkboxes') return checkChoices(field, said);
  if (said.length > 1) return { fault: `${label}: please give only one answer; you gave ${said.length}.` };
  const [text = ''] = said;
  if (kind === 'checkbox') return checkTick(field, text);
  if (text.length > lengthOf(field)) return { fault: `${label}: please use at most ${lengthOf(field)} characters.` };
  const plain = kind === 'textarea' || kind === 'hidden' ? text : text.trim();
  const fault = faultOf(field, plain);
  return fault === undefined ? plain : { fault: `${label}: ${fault}` };
}

function faultOf({ kind, options = [] }: FormField, text: string): string | undefined {
  if (kind !== 'textarea' && kind !== 'hidden' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    return 'this must be a single line of text.';
  switch (kind) {
    case 'email':
      return isPlainEmail(text) ? undefined : 'please enter an e-mail address, such as name@example.com.';
    case 'tel':
      return isTelephone(text) ? undefined : 'please enter a telephone number.';
    case 'url':
      return isWebAddress(text) ? undefined : 'please enter a web address, such as https://example.com.';
    case 'number':
      return isNumber(text) ? undefined : 'please enter a number.';
    case 'date':
      return isDate(text) ? undefined : 'please enter a date, such as 2026-12-31.';
    case 'select':
    case 'radio':
      return options.includes(text) ? undefined : 'please choose one of the options.';
    default:
      return undefined;
  }
}

function checkChoices({ label, options = [] }: FormField, said: string[]): Answer {
  if (said.some((one) => !options.includes(one))) return { fault: `${label}: please choose only from the options.` };
  if (new Set(said).size < said.length) return { fault: `${label}: please choose each option only once.` };
  return options.filter((one) => said.includes(one));
}

const ticked = ['on', 'yes', 'true', '1'];
const unticked = ['off', 'no', 'false', '0'];

/** A page may set its own value for the box (`value="I agree"`), which is kept. */
function checkTick(field: FormField, text: string): Answer {
  const word = text.trim().toLowerCase();
  if (unticked.includes(word)) return field.required ? { fault: `${field.label}: please tick this box.` } : '';
  if (ticked.includes(word)) return 'yes';
  return text.length > lengthOf(field)
    ? { fault: `${field.label}: this value is too long for a checkbox.` }
    : text.trim();
}

function faultOfExtra(name: string, all: readonly string[]): string | undefined {
  if (name === '' || name.length > nameLengthMax || /\p{C}/u.test(name)) return 'A field has an invalid name.';
  // An object built from the answers would confuse it with its prototype.
  if (name === '__proto__') return 'A field cannot be called __proto__.';
  if (all.length > extraTimesMax) return `${shown(name)} has too many answers (${all.length}).`;
  if (!all.every((text) => isStorable(text) && text.length <= extraLengthMax)) {
    return `${shown(name)} is too long, or contains characters that are not allowed.`;
  }
  return undefined;
}

/** Line breaks as LF: browsers send CRLF (HTML standard, form submission). */
const lines = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Whether it contains no control characters and no lone surrogates, which break databases, files and terminals. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text);
}

const shown = (name: string): string => name.replace(/[\p{C}]/gu, '�').slice(0, nameLengthMax);

function isTelephone(text: string): boolean {
  return /^[+\d\s()./#*,;ext-]+$/i.test(text) && text.replace(/\D/g, '').length >= 3;
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !/\s/.test(text);
}

/** A floating-point number as in HTML, of a reasonable size. */
function isNumber(text: string): boolean {
  return /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i.test(text);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
