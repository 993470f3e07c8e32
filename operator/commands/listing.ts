/** Pages of lists in operator commands. */

/** Items per page. */
export const listed = 200;

/** Rows to read for a page: one more than is shown. */
export const rowsToRead = listed + 1;

/** The items of a page, and in `next` the value of `--after` for the next page; null on the last page. */
export function pageOf<Row extends { id: string }, Item>(rows: readonly Row[], show: (row: Row) => Item) {
  return pageBy(rows, show, ({ id }) => id);
}

/** The same for rows whose key is not `id`. */
export function pageBy<Row, Item>(rows: readonly Row[], show: (row: Row) => Item, nameOf: (row: Row) => string) {
  const shown = rows.slice(0, listed);
  const last = shown.at(-1);
  return { items: shown.map(show), next: rows.length > listed && last ? nameOf(last) : null };
}
