/** Submissions as CSV for spreadsheets: RFC 4180, UTF-8 with a byte order mark, and no cell that would be evaluated as a formula. Pure. */
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';

export type Exported = { id: string; createdAt: Date; page: string; values: SubmittedValue[] };

const byteOrderMark = '\ufeff';

/** The header: a column for each field, by its label, and one for all values of other names. */
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

/** Spreadsheets treat these first characters as a formula; some keyboards type the full-width ones. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Always quoted, with an apostrophe before what would be evaluated. */
function cell(text: string): string {
  const harmless = formula.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
