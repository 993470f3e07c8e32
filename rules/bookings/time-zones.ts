/** Time zones of the tz database. Only this module uses the library. */
import { Temporal } from 'temporal-polyfill';

/** A period in which a zone has one UTC offset. Moments and offset in milliseconds. */
export type OffsetPeriod = { from: number; until: number; offset: number };

/** Whether this is a zone of the tz database, such as `Europe/Berlin`. An offset such as `+01:00` is not. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId === name;
  } catch {
    return false;
  }
}

/** The offset periods of a zone that cover [from, until), in order. */
export function offsetPeriods(zone: string, from: number, until: number): OffsetPeriod[] {
  const stretches: OffsetPeriod[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone);
  for (let begins = from; begins < until; ) {
    const next = at.getTimeZoneTransition('next');
    const ends = Math.min(next?.epochMilliseconds ?? until, until);
    stretches.push({ from: begins, until: ends, offset: at.offsetNanoseconds / 1e6 });
    if (!next) break;
    at = next;
    begins = ends;
  }
  return stretches;
}

/** The UTC offset at a moment. */
export function offsetAt(zone: string, at: number): number {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
}

/** The moment as the zone writes it, RFC 3339: `2026-03-29T09:00:00+02:00`. */
export function localTime(at: number, offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const pad = (number: number) => String(number).padStart(2, '0');
  const distance = `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
  return `${new Date(at + offset).toISOString().slice(0, 19)}${distance}`;
}

/** The local time of the moment in the zone, RFC 3339 with its UTC offset. */
export function isoLocal(zone: string, at: number): string {
  return localTime(at, offsetAt(zone, at));
}
