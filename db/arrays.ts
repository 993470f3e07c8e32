/** Lists as parameters of SQL, in PostgreSQL's own notation of arrays: `= any(?::text[])`. */

export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Of hashes in hex, as `bytea[]`. */
export function hashArray(hashes: readonly string[]): string {
  return `{${hashes.map((hash) => `"\\\\x${hash}"`).join(',')}}`;
}
