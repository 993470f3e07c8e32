/** What the inbox shows of a submission: who sent it, and one line. It is stored, because the values may have a megabyte. */
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';

const openingMax = 200;
const senderMax = 100;

type Values = readonly SubmittedValue[];

export function summaryOf(values: Values, fields: readonly FormField[]): { sender: string | null; opening: string } {
  const sender = senderOf(values, fields);
  return { sender, opening: beginning(lineOf(values, fields, sender), openingMax) };
}

/** What they wrote: a single answer alone, more with their names. The sender is shown beside it. */
function lineOf(values: Values, fields: readonly FormField[], sender: string | null): string {
  const addresses = new Set(fields.flatMap(({ name, kind }) => (kind === 'email' ? [name] : [])));
  const others = values.filter(([name, value]) => !addresses.has(name) && textOf(value).trim() !== sender);
  const shown = sender === null || others.length === 0 ? values : others;
  const [only] = shown;
  if (only && shown.length === 1) return textOf(only[1]);
  return shown.map(([name, value]) => `${name}: ${textOf(value)}`).join(' · ');
}

const textOf = (value: string | string[]): string => [value].flat().join(', ');

/** The answer to the field `name`, or else to the first one for an e-mail address. */
function senderOf(values: Values, fields: readonly FormField[]): string | null {
  const asked = [
    fields.find(({ name, kind }) => name.toLowerCase() === 'name' && kind === 'text'),
    fields.find(({ kind }) => kind === 'email'),
  ];
  const answers = asked.map((field) => values.find(([name]) => name === field?.name)?.[1] ?? '');
  const given = answers.flat().find((answer) => answer.trim() !== '');
  return given === undefined ? null : beginning(given.trim(), senderMax);
}

/** The beginning of the text, in one line. */
function beginning(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').toWellFormed();
  return line.length > max ? `${line.slice(0, max).toWellFormed()}…` : line;
}
