/** Lists in SQL: as parameters in PostgreSQL's array notation (`= any(?::text[])`), and as literals. */

/** For `in`: `('a', 'b')`. The values are the code's own; they are not escaped. */
export function sqlList(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}

export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Hashes in hex, as `bytea[]`. */
export function hashArray(hashes: readonly string[]): string {
  return `{${hashes.map((hash) => `"\\\\x${hash}"`).join(',')}}`;
}
