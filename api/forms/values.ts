/** What a visitor answered, held against the fields that ask it. Pure; every byte of it is a stranger's. */

import { isPlainAddress } from '#api/addresses.ts';
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { lengthOf } from './fields.ts';

/** By name, in the order they came, each as often as it came. A Map: `__proto__` is a name like any other in it. */
export type Given = ReadonlyMap<string, readonly string[]>;

/** `message` is for the visitor, and names the field by its label. */
export type Fault = { name: string; message: string };

export type Judged = { values: SubmittedValue[]; faults: Fault[] };

const extraNamesMax = 50;
const extraLengthMax = 10_000;
const extraTimesMax = 100;
const nameLengthMax = 100;

/**
 * Judges all of it at once, so that a visitor mends everything in one go. Known fields come first, in their order; an optional one that is
 * empty is left out. Names that no field has are kept as they came, unless `keepUnknown` is false: then they are faults.
 */
export function judgeValues(fields: readonly FormField[], given: Given, { keepUnknown = true } = {}): Judged {
  const judged: Judged = { values: [], faults: [] };
  for (const field of fields) {
    const answer = judgeField(field, given.get(field.name) ?? []);
    if (typeof answer === 'object' && 'fault' in answer)
      judged.faults.push({ name: field.name, message: answer.fault });
    else if (answer.length > 0) judged.values.push([field.name, answer]);
  }
  const known = new Set(fields.map(({ name }) => name));
  const unknown = [...given].filter(([name]) => !known.has(name));
  if (unknown.length > extraNamesMax) {
    judged.faults.push({
      name: '',
      message: `There are ${unknown.length} answers to questions that the form does not ask.`,
    });
    return judged;
  }
  for (const [name, all] of unknown) {
    const fault = keepUnknown ? faultOfExtra(name, all) : 'The form does not ask this.';
    const said = all.map(lines).filter((text) => text.trim() !== '');
    if (fault !== undefined) judged.faults.push({ name: shown(name), message: fault });
    else if (said.length > 0) judged.values.push([name, said.length === 1 ? (said[0] as string) : said]);
  }
  return judged;
}

type Answer = string | string[] | { fault: string };

function judgeField(field: FormField, all: readonly string[]): Answer {
  const { label, kind, required } = field;
  const said = all.map(lines).filter((text) => text.trim() !== '');
  if (said.length === 0) return required ? { fault: `${label}: this is needed.` } : '';
  if (!said.every(isStorable)) return { fault: `${label}: it holds characters that no text may hold.` };
  if (kind === 'checkboxes') return judgeChoices(field, said);
  if (said.length > 1) return { fault: `${label}: this takes one answer, and ${said.length} came.` };
  const [text = ''] = said;
  if (kind === 'checkbox') return judgeTick(field, text);
  if (text.length > lengthOf(field)) return { fault: `${label}: at most ${lengthOf(field)} characters.` };
  // Spaces around it are nobody's answer; inside a long text they are.
  const plain = kind === 'textarea' || kind === 'hidden' ? text : text.trim();
  const fault = faultOf(field, plain);
  return fault === undefined ? plain : { fault: `${label}: ${fault}` };
}

function faultOf({ kind, options = [] }: FormField, text: string): string | undefined {
  if (kind !== 'textarea' && kind !== 'hidden' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    return 'this is one line of text.';
  switch (kind) {
    case 'email':
      return isPlainAddress(text) ? undefined : 'this is not an email address, as in name@example.com.';
    case 'tel':
      return isTelephone(text) ? undefined : 'this is not a telephone number.';
    case 'url':
      return isWebAddress(text) ? undefined : 'this is not a web address, as in https://example.com.';
    case 'number':
      return isNumber(text) ? undefined : 'this is not a number.';
    case 'date':
      return isDate(text) ? undefined : 'this is not a date, as in 2026-12-31.';
    case 'select':
    case 'radio':
      return options.includes(text) ? undefined : 'this is none of the choices.';
    default:
      return undefined;
  }
}

function judgeChoices({ label, options = [] }: FormField, said: string[]): Answer {
  if (said.some((one) => !options.includes(one))) return { fault: `${label}: this is none of the choices.` };
  if (new Set(said).size < said.length) return { fault: `${label}: a choice came twice.` };
  return options.filter((one) => said.includes(one));
}

const ticked = ['on', 'yes', 'true', '1'];
const unticked = ['off', 'no', 'false', '0'];

/** A page may give its box words of its own (`value="I agree"`): they are kept. */
function judgeTick(field: FormField, text: string): Answer {
  const word = text.trim().toLowerCase();
  if (unticked.includes(word)) return field.required ? { fault: `${field.label}: this has to be ticked.` } : '';
  if (ticked.includes(word)) return 'yes';
  return text.length > lengthOf(field) ? { fault: `${field.label}: this is a box to tick.` } : text.trim();
}

function faultOfExtra(name: string, all: readonly string[]): string | undefined {
  if (name === '' || name.length > nameLengthMax || /\p{C}/u.test(name)) return 'A field has no usable name.';
  // No object that is made of the answers, here or at the owner's, could tell it from its own.
  if (name === '__proto__') return 'A field may not be called __proto__.';
  if (all.length > extraTimesMax) return `${shown(name)} came ${all.length} times.`;
  if (!all.every((text) => isStorable(text) && text.length <= extraLengthMax)) {
    return `${shown(name)} is too long, or holds characters that no text may hold.`;
  }
  return undefined;
}

/** Line ends as one character: browsers send two (HTML standard, form submission). */
const lines = (text: string): string => text.replace(/\r\n?/g, '\n');

/** What the database can hold, and no file or terminal trips over: no NUL or other control character, no half of a surrogate pair. */
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

/** A floating-point number as HTML has it, of a size that people mean. */
function isNumber(text: string): boolean {
  return /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i.test(text);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
