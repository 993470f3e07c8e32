/** Validation of a whole timetable, beyond the schema of its parts. Pure. */
import { dateOf, dayOf, timeOf } from './dates.ts';
import { exceptionDays } from './opening-hours.ts';
import { whereaboutsFault } from './places.ts';
import { isZone } from './time-zones.ts';
import { type Calendar, type DateException, type Service, type Window, weekdays } from './timetable.ts';

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

function* calendarFaults({ time_zone, hours, exceptions, place, link }: Calendar, at: string): Generator<Check> {
  const unknown = isZone(time_zone)
    ? undefined
    : 'this is not a time zone name from the tz database, such as Europe/Berlin';
  yield { where: `${at}.time_zone`, what: unknown };
  for (const [index, window] of hours.entries()) yield { where: `${at}.hours.${index}`, what: windowFault(window) };
  for (const day of weekdays) {
    const what = overlap(hours.filter(({ days }) => days.includes(day)));
    yield { where: `${at}.hours`, what: what && `on ${day} ${what}` };
  }
  yield { where: at, what: whereaboutsFault({ place, link }) };
  for (const [index, exception] of exceptions.entries()) {
    const { hours: windows } = exception;
    const where = `${at}.exceptions.${index}`;
    yield* datesFaults(exception, where);
    for (const [nth, window] of windows.entries()) yield { where: `${where}.hours.${nth}`, what: windowFault(window) };
    yield { where: `${where}.hours`, what: overlap(windows) };
  }
  yield { where: `${at}.exceptions`, what: sharedDate(exceptions) };
}

const longestDays = 731;

function* datesFaults(exception: DateException, where: string): Generator<Check> {
  const { date, from, to } = exception;
  const isOne = date !== undefined && from === undefined && to === undefined;
  const isRange = date === undefined && from !== undefined && to !== undefined;
  yield { where, what: isOne || isRange ? undefined : 'it needs either date, or from and to' };
  for (const [name, text] of Object.entries({ date, from, to })) {
    const isDate = text === undefined || dayOf(text) !== undefined;
    yield { where: `${where}.${name}`, what: isDate ? undefined : 'this is not a date such as 2026-12-31' };
  }
  const { first = 0, last = 0 } = exceptionDays(exception) ?? {};
  yield { where: `${where}.to`, what: last < first ? 'it is before from' : undefined };
  const isLong = last - first >= longestDays;
  yield { where: `${where}.to`, what: isLong ? `an exception has at most ${longestDays} days` : undefined };
}

/** A date that two exceptions have. */
function sharedDate(exceptions: readonly DateException[]): string | undefined {
  const all = exceptions.flatMap((one) => exceptionDays(one) ?? []).sort((a, b) => a.first - b.first);
  const at = all.findIndex(({ first }, index) => index > 0 && first <= (all[index - 1]?.last ?? first - 1));
  const shared = all[at];
  return shared && `${dateOf(shared.first)} occurs more than once`;
}

function* serviceFaults(service: Service, calendars: Calendar[], at: string): Generator<Check> {
  const { calendar_keys, price, seats_max } = service;
  yield { where: at, what: whereaboutsFault(service) };
  yield { where: `${at}.calendar_keys`, what: repeated(calendar_keys) };
  const unknown = calendar_keys.find((key) => !calendars.some((calendar) => calendar.key === key));
  yield { where: `${at}.calendar_keys`, what: unknown && `there is no calendar with the key ${unknown}` };
  const capacities = calendars.filter(({ key }) => calendar_keys.includes(key)).map(({ capacity }) => capacity);
  const most = Math.max(...capacities);
  const tooMany = `no booking can have so many seats: its largest calendar has ${most}`;
  yield { where: `${at}.seats_max`, what: seats_max > most ? tooMany : undefined };
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
