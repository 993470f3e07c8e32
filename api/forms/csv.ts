/** Submissions as CSV for spreadsheets: RFC 4180, UTF-8 with a byte order mark, and no cell that would be evaluated as a formula. Pure. */
import { encodedName } from '#api/attachment-name.ts';
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';

export type Exported = { id: string; createdAt: Date; page: string; values: SubmittedValue[] };

const byteOrderMark = '\ufeff';

/** `Lindenhof – Contact, messages.csv`, as RFC 6266 writes it for browsers that read Unicode, and in ASCII for others. */
export function csvDisposition(siteTitle: string, formName: string): string {
  const name = `${siteTitle} – ${formName}, messages.csv`.replaceAll(/[\\/:*?"<>|\p{C}]/gu, ' ');
  const ascii = name.replaceAll('–', '-').replaceAll(/[^\x20-\x7e]|[%;]/g, '_');
  return `attachment; filename="${ascii}"; ${encodedName(name)}`;
}

/** The header: a column for each field, by its label, and one for all values of other names. */
export function csvHead(fields: readonly FormField[], zone: string): string {
  return (
    byteOrderMark + line([`Received (${zone})`, ...fields.map(({ label }) => label), 'Other answers', 'Page', 'Id'])
  );
}

export function csvLine(fields: readonly FormField[], zone: string, { id, createdAt, page, values }: Exported): string {
  const answers = new Map(values);
  const known = fields.map(({ name }) => words(answers.get(name)));
  const asked = new Set(fields.map(({ name }) => name));
  const others = values.filter(([name]) => !asked.has(name)).map(([name, value]) => `${name}: ${words(value)}`);
  return line([
    isoLocal(zone, createdAt.getTime()).slice(0, 19).replace('T', ' '),
    ...known,
    others.join('\n'),
    page,
    id,
  ]);
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
