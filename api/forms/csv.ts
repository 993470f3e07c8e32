/** Submissions as a table that a spreadsheet opens: RFC 4180, UTF-8 with a byte order mark, and no cell that it would calculate. Pure. */
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';

export type Exported = { id: string; createdAt: Date; page: string; values: SubmittedValue[] };

const byteOrderMark = '\ufeff';

/** The first line: a column for each field by its label, and one for all answers that the form does not ask for. */
export function csvHead(fields: readonly FormField[]): string {
  return byteOrderMark + line(['Received', ...fields.map(({ label }) => label), 'Other answers', 'Page', 'Id']);
}

export function csvLine(fields: readonly FormField[], { id, createdAt, page, values }: Exported): string {
  const answers = new Map(values);
  const known = fields.map(({ name }) => words(answers.get(name)));
  const asked = new Set(fields.map(({ name }) => name));
  const others = values.filter(([name]) => !asked.has(name)).map(([name, value]) => `${name}: ${words(value)}`);
  return line([createdAt.toISOString(), ...known, others.join('\n'), page, id]);
}

const words = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join('; ') : (value ?? '');

const line = (cells: string[]): string => `${cells.map(cell).join(',')}\r\n`;

/** What a spreadsheet takes for a formula begins with one of these; the wide ones are so on some keyboards. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Quoted always, and with an apostrophe before what would be calculated. */
function cell(text: string): string {
  const harmless = formula.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
