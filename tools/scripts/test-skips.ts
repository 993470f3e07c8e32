/** What a test run skipped, as text. */

/** A test that was skipped. `programs` are those that it needs and this machine lacks. */
export type Skip = { file: string; name: string; reason: string; programs: { name: string; get: string }[] };

/** Tests skipped for other reasons, and a table of the missing programs. A test that lacks two is in both their rows. */
export function describeSkips(skips: readonly Skip[]): string {
  const singly = skips.filter(({ programs }) => programs.length === 0).map(describeSkip);
  const lacking = skips.flatMap(({ file, programs }) => programs.map((program) => ({ file, ...program })));
  const programs = [...Map.groupBy(lacking, ({ name }) => name)].sort(([one], [other]) => one.localeCompare(other));
  if (programs.length === 0) return singly.join('\n');
  const rows = programs.map(([name, own]) => {
    const files = new Set(own.map(({ file }) => file)).size;
    return [name, String(own.length), String(files), own[0]?.get ?? ''];
  });
  const table = tableOf([['program', 'tests', 'files', 'how to get it'], ...rows]);
  return [...singly, 'Tests were skipped because this machine lacks programs:', ...table].join('\n');
}

export const describeSkip = ({ name, reason }: Skip) => `skipped: ${name} (${reason})`;

function tableOf(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_cell, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
