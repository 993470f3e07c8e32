/** Lists as SQL parameters, in PostgreSQL's array notation: `= any(?::text[])`. */

export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Hashes in hex, as `bytea[]`. */
export function hashArray(hashes: readonly string[]): string {
  return `{${hashes.map((hash) => `"\\\\x${hash}"`).join(',')}}`;
}
