/** Lists of the operator's command: the newest or oldest so many, and how the next ones are asked for. */

/** How many things one answer lists. */
export const listed = 200;

/** What to read for a page: one row more than is shown. */
export const rowsToRead = listed + 1;

/** The items of a page, and in `next` what `--after` takes to go on behind it; null where nothing more follows. */
export function pageOf<Row extends { id: string }, Item>(rows: readonly Row[], show: (row: Row) => Item) {
  return pageBy(rows, show, ({ id }) => id);
}

/** The same of things that go by another name than an id. */
export function pageBy<Row, Item>(rows: readonly Row[], show: (row: Row) => Item, nameOf: (row: Row) => string) {
  const shown = rows.slice(0, listed);
  const last = shown.at(-1);
  return { items: shown.map(show), next: rows.length > listed && last ? nameOf(last) : null };
}
