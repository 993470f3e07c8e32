/** Conditional requests and ranges (RFC 9110 sections 13 and 14). */

const entityTag = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** Whether an If-None-Match field contains the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesWeakly(field: string, etag: string): boolean {
  if (field === etag || field.trim() === '*') return true;
  for (const [, , tag] of field.matchAll(entityTag)) if (tag === etag) return true;
  return false;
}

/** Whether an If-Match field contains the tag, by strong comparison: a weak tag never matches (section 13.1.1). */
export function matchesStrongly(field: string, etag: string): boolean {
  if (field.trim() === '*') return true;
  for (const [, weak, tag] of field.matchAll(entityTag)) if (tag === etag && weak === undefined) return true;
  return false;
}

/** Positions of the first and last byte. */
export type ByteRange = { start: number; end: number };

/**
 * The single range of a Range field, for `bytes` bytes; `unsatisfiable` if it is outside. Several ranges, other units and malformed
 * fields are `undefined`: the field is ignored, and the response is whole.
 */
function readRange(field: string, bytes: number): ByteRange | 'unsatisfiable' | undefined {
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

/** The fields of a request that decide its response. */
export type Conditions = {
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** Only of a GET. */
  range?: string | undefined;
  ifRange?: string | undefined;
};

export type Outcome = { status: 200 | 304 | 412 | 416 } | { status: 206; range: ByteRange };

const whole: Outcome = { status: 200 };

/** The status for a representation of `bytes` bytes with this tag, and the part to send (RFC 9110 section 13.2.2). */
export function evaluateConditions(
  { ifMatch, ifNoneMatch, range, ifRange }: Conditions,
  etag: string,
  bytes: number,
): Outcome {
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) return { status: 412 };
  if (ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag)) return { status: 304 };
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return whole;
  const part = readRange(range, bytes);
  if (part === undefined) return whole;
  return part === 'unsatisfiable' ? { status: 416 } : { status: 206, range: part };
}
