/** Validation of a whole timetable, beyond the schema of its parts. Pure. */
import { dayOf, timeOf } from './dates.ts';
import { isZone } from './time-zones.ts';
import { type Calendar, type Service, type Window, weekdays } from './timetable.ts';

export type Timetable<Field = unknown> = { calendars: Calendar[]; services: Service<Field>[] };

/** The first fault and its location, such as `calendars.0.hours.2`. Undefined for a valid timetable. */
export function faultOf({ calendars, services }: Timetable): { where: string; what: string } | undefined {
  for (const { where, what } of faults(calendars, services)) if (what !== undefined) return { where, what };
  return undefined;
}

type Check = { where: string; what: string | undefined };

function* faults(calendars: Calendar[], services: Service[]): Generator<Check> {
  yield { where: 'calendars', what: repeated(calendars.map(({ key }) => key)) };
  yield { where: 'services', what: repeated(services.map(({ key }) => key)) };
  for (const [at, calendar] of calendars.entries()) yield* calendarFaults(calendar, `calendars.${at}`);
  for (const [at, service] of services.entries()) yield* serviceFaults(service, calendars, `services.${at}`);
}

function* calendarFaults({ time_zone, hours, exceptions }: Calendar, at: string): Generator<Check> {
  const unknown = isZone(time_zone)
    ? undefined
    : 'this is not a time zone name from the tz database, such as Europe/Berlin';
  yield { where: `${at}.time_zone`, what: unknown };
  for (const [index, window] of hours.entries()) yield { where: `${at}.hours.${index}`, what: windowFault(window) };
  for (const day of weekdays) {
    const what = overlap(hours.filter(({ days }) => days.includes(day)));
    yield { where: `${at}.hours`, what: what && `on ${day} ${what}` };
  }
  yield { where: `${at}.exceptions`, what: repeated(exceptions.map(({ date }) => date)) };
  for (const [index, { date, hours: windows }] of exceptions.entries()) {
    const where = `${at}.exceptions.${index}`;
    yield {
      where: `${where}.date`,
      what: dayOf(date) === undefined ? 'this is not a date such as 2026-12-31' : undefined,
    };
    for (const [nth, window] of windows.entries()) yield { where: `${where}.hours.${nth}`, what: windowFault(window) };
    yield { where: `${where}.hours`, what: overlap(windows) };
  }
}

function* serviceFaults(service: Service, calendars: Calendar[], at: string): Generator<Check> {
  const { calendar_keys, price } = service;
  yield { where: `${at}.calendar_keys`, what: repeated(calendar_keys) };
  const unknown = calendar_keys.find((key) => !calendars.some((calendar) => calendar.key === key));
  yield { where: `${at}.calendar_keys`, what: unknown && `there is no calendar with the key ${unknown}` };
  const known = price === null || Intl.supportedValuesOf('currency').includes(price.currency);
  yield { where: `${at}.price.currency`, what: known ? undefined : 'this is not an ISO 4217 currency such as EUR' };
}

function windowFault({ from, to }: Window): string | undefined {
  const [begins, ends] = [timeOf(from), timeOf(to)];
  if (begins === undefined || ends === undefined) return 'its times must be written as HH:MM, from 00:00 to 24:00';
  if (begins < ends) return undefined;
  return 'it ends before it begins; split a window that spans midnight in two: one until 24:00, and one from 00:00 on the next day';
}

function overlap(windows: readonly Window[]): string | undefined {
  const sorted = [...windows].sort((a, b) => (a.from < b.from ? -1 : 1));
  const second = sorted.find(({ from }, at) => at > 0 && from < (sorted[at - 1] as Window).to);
  return second && `two windows overlap at ${second.from}`;
}

function repeated(keys: readonly string[]): string | undefined {
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  return twice === undefined ? undefined : `${twice} occurs more than once`;
}
