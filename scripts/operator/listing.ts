/** Lists of the operator's command: the newest or oldest so many, and how the next ones are asked for. */

/** How many things one answer lists. */
export const listed = 200;

/** What to read for a page: one row more than is shown. */
export const readRows = listed + 1;

/** The items of a page, and in `next` what `--after` takes to go on behind it; null where nothing more follows. */
export function pageOf<Row extends { id: string }, Item>(rows: readonly Row[], show: (row: Row) => Item) {
  const shown = rows.slice(0, listed);
  return { items: shown.map(show), next: rows.length > listed ? (shown.at(-1)?.id ?? null) : null };
}
