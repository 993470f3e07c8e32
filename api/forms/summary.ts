/** What the inbox shows of a submission: who sent it, and one line. It is stored, because the values may have a megabyte. */
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';

const openingMax = 200;
const senderMax = 100;

type Values = readonly SubmittedValue[];

export function summaryOf(values: Values, fields: readonly FormField[]): { sender: string | null; opening: string } {
  const line = values.map(([name, value]) => `${name}: ${[value].flat().join(', ')}`).join(' · ');
  return { sender: senderOf(values, fields), opening: beginning(line, openingMax) };
}

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
