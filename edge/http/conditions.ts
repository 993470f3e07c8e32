/** Conditional requests and ranges (RFC 9110 sections 13 and 14). */

const entityTag = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Whether an If-None-Match field names the tag. Compared weakly, as RFC 9110 section 13.1.2 asks. */
export function matchesWeakly(field: string, etag: string): boolean {
  if (field === etag || field.trim() === '*') return true;
  for (const [, , tag] of field.matchAll(entityTag)) if (tag === etag) return true;
  return false;
}

/** Whether an If-Match field names the tag. Compared strongly: a weak tag never matches (section 13.1.1). */
export function matchesStrongly(field: string, etag: string): boolean {
  if (field.trim() === '*') return true;
  for (const [, weak, tag] of field.matchAll(entityTag)) if (tag === etag && weak === undefined) return true;
  return false;
}

/** Positions of the first and last byte. */
export type ByteRange = { start: number; end: number };

/**
 * The one range that a Range field asks of `bytes` bytes; `unsatisfiable` when it lies outside. Several ranges, other units and
 * nonsense are `undefined`: the field is then to be ignored, and the answer is whole.
 */
export function readRange(field: string, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(field.replaceAll(/[ \t]/g, ''));
  if (!match || field.includes(',')) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? undefined : suffix(Number(last), bytes);
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= bytes) return 'unsatisfiable';
  return { start, end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}

function suffix(length: number, bytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || bytes === 0) return 'unsatisfiable';
  return { start: Math.max(0, bytes - length), end: bytes - 1 };
}
