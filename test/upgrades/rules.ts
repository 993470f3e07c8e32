/** Schema changes that the previous release could not work with. */

type Column = { type: string; isNullable: boolean; isRequired: boolean };

const tableOf = (column: string) => column.slice(0, column.lastIndexOf('.'));

function columnsOf(lines: string[]): Map<string, Column> {
  const columns = new Map<string, Column>();
  for (const line of lines) {
    const [kind, name = '', type = '', filled, required] = line.split(' ');
    if (kind === 'column')
      columns.set(name, { type, isNullable: filled === 'nullable', isRequired: required === 'required' });
  }
  return columns;
}

const namesOf = (kind: string, lines: string[]) => lines.filter((line) => line.startsWith(`${kind} `));

/**
 * Sentences, one for each fault. `before` and `after` are lines of `describeRelease`; a line `unused <column>` of `before`, set by hand when
 * that release was made, says that it neither reads nor writes the column, so that the next may take it away.
 */
export function faultsBetween(before: string[], after: string[]): string[] {
  const unused = new Set(namesOf('unused', before).map((line) => line.split(' ')[1] ?? ''));
  const had = columnsOf(before);
  const has = columnsOf(after);
  const tables = new Set([...had.keys()].map(tableOf));
  const faults: string[] = [];
  for (const [name, column] of had) {
    if (unused.has(name)) continue;
    const now = has.get(name);
    if (!now) faults.push(`${name} is gone`);
    else {
      if (now.type !== column.type) faults.push(`${name} is ${now.type} and was ${column.type}`);
      if (column.isNullable && !now.isNullable) faults.push(`${name} can be null no more`);
      if (!column.isNullable && now.isNullable) faults.push(`${name} may be null, which it never was`);
      if (!column.isRequired && now.isRequired) faults.push(`${name} has to be given, which it had not`);
    }
  }
  for (const [name, { isRequired }] of has)
    if (!had.has(name) && tables.has(tableOf(name)) && isRequired)
      faults.push(`${name} is new and has to be given, by who does not know it`);
  const stands = new Set(after);
  for (const line of ['function', 'history', 'migration'].flatMap((kind) => namesOf(kind, before)))
    if (!stands.has(line)) faults.push(`${line} is gone or another`);
  const stood = new Set(before);
  for (const line of namesOf('restraint', after))
    if (!stood.has(line) && tables.has(line.split(' ')[1] ?? '')) faults.push(`new ${line}`);
  return faults;
}
