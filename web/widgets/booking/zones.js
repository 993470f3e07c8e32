/** Moments as clocks show them, with the names of their time zones. */

/** The visitor's own time zone; `UTC` where the browser does not know it. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** @param {string} timeZone */
export const zoneName = (timeZone) => timeZone.replaceAll('_', ' ');

/**
 * The last part of the name, such as `New York`.
 * @param {string} timeZone
 */
export const placeOf = (timeZone) => zoneName(timeZone.slice(timeZone.lastIndexOf('/') + 1));

/**
 * The offset at the moment, such as `UTC+02:00`.
 * @param {string} moment
 * @param {string} timeZone
 */
export function offsetAt(moment, timeZone) {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(new Date(moment)).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name.replace('GMT', 'UTC');
}

/**
 * Whether clocks in the two zones show different times.
 * @param {string} moment
 * @param {string} one
 * @param {string} other
 */
export const differs = (moment, one, other) => offsetAt(moment, one) !== offsetAt(moment, other);

/**
 * Date, time, zone and offset: no other moment is written like this.
 * @param {string} moment
 * @param {string} timeZone
 * @param {string} locale
 */
export function momentText(moment, timeZone, locale) {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone });
  return `${format.format(new Date(moment))} (${zoneName(timeZone)}, ${offsetAt(moment, timeZone)})`;
}

/**
 * The times of slots in a zone, as short as they are clear: with the weekday where it is not that of `dayIn`, and with
 * the offset where an hour occurs twice.
 * @param {readonly string[]} moments
 * @param {string} timeZone
 * @param {{ locale: string, dayIn?: string }} options
 */
export function slotTimes(moments, timeZone, { locale, dayIn = timeZone }) {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone });
  const timeWithDay = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
  });
  const texts = moments.map((moment) => {
    const at = new Date(moment);
    return (dateIn(at, timeZone) === dateIn(at, dayIn) ? time : timeWithDay).format(at);
  });
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.map((text, at) =>
    counts.get(text) > 1 ? `${text} (${offsetAt(/** @type {string} */ (moments[at]), timeZone)})` : text,
  );
}

/**
 * @param {Date} moment
 * @param {string} timeZone
 */
const dateIn = (moment, timeZone) => new Intl.DateTimeFormat('en', { dateStyle: 'short', timeZone }).format(moment);
