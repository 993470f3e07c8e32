/** Times in the reader's own time zone, which each names. */

/** @satisfies {Intl.DateTimeFormatOptions} */
export const longDate = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' };
/** @satisfies {Intl.DateTimeFormatOptions} */
export const shortDate = { day: 'numeric', month: 'short', year: 'numeric' };

/**
 * Such as `2 Dec 2026, 10:00 CET`.
 * @param {string} moment RFC 3339
 * @param {Intl.DateTimeFormatOptions} date how the date is written
 */
export function readerTime(moment, date) {
  // A `timeZoneName` is not allowed beside `dateStyle`.
  const parts = /** @type {const} */ ({ ...date, hour: 'numeric', minute: '2-digit', timeZoneName: 'short' });
  return new Intl.DateTimeFormat(undefined, parts).format(new Date(moment));
}
