/**
 * What can be booked, found the slow and obvious way: step through the day in small steps, ask the platform's own clock what it reads
 * there, and look at every moment of a booking one by one. It shares nothing with the engine but the shape of a timetable.
 */
import type { Calendar, Offering, Weekday } from '#rules/bookings/timetable.ts';

export type Booked = { from: number; until: number; seats: number };
export type Found = { start: number; seatsLeft: number };

export function slowOffers(
  service: Offering,
  calendar: Omit<Calendar, 'key' | 'name'>,
  date: string,
  { now, taken, grainMinutes }: { now: number; taken: Booked[]; grainMinutes: number },
): Found[] {
  const grain = grainMinutes * 60_000;
  const clock = clockOf(calendar.time_zone);
  const found: Found[] = [];
  const noon = Date.parse(`${date}T12:00:00Z`);
  for (let start = noon - 30 * 3600_000; start < noon + 30 * 3600_000; start += grain) {
    const reads = clock(start);
    if (reads.date !== date || !isOnGrid(calendar, reads, service.step_minutes)) continue;
    if (start < now + service.lead_minutes * 60_000) continue;
    if (date > addDays(clock(now).date, service.horizon_days)) continue;
    const end = start + service.duration_minutes * 60_000;
    if (!every(start, end, grain, (moment) => isOpen(calendar, clock(moment)))) continue;
    let seatsLeft = calendar.capacity;
    const busyUntil = end + service.buffer_after_minutes * 60_000;
    every(start - service.buffer_before_minutes * 60_000, busyUntil, grain, (moment) => {
      const sitting = taken.filter(({ from, until }) => from <= moment && moment < until);
      seatsLeft = Math.min(seatsLeft, calendar.capacity - sitting.reduce((sum, { seats }) => sum + seats, 0));
      return true;
    });
    found.push({ start, seatsLeft });
  }
  return found;
}

type Reading = { date: string; time: string };

function every(from: number, until: number, step: number, holds: (moment: number) => boolean): boolean {
  for (let moment = from; moment < until; moment += step) if (!holds(moment)) return false;
  return true;
}

function windowsOn({ hours, exceptions }: Omit<Calendar, 'key' | 'name'>, date: string) {
  const exception = exceptions.find(({ date: one, from = one ?? '', to = one ?? '' }) => from <= date && date <= to);
  if (exception) return exception.hours;
  return hours.filter(({ days }) => days.includes(weekday(date)));
}

const weekdayName = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });
const weekday = (date: string) => weekdayName.format(Date.parse(date)).toLowerCase() as Weekday;

function isOpen(calendar: Omit<Calendar, 'key' | 'name'>, { date, time }: Reading): boolean {
  return windowsOn(calendar, date).some(({ from, to }) => from <= time && time < to);
}

function isOnGrid(calendar: Omit<Calendar, 'key' | 'name'>, { date, time }: Reading, step: number): boolean {
  return windowsOn(calendar, date).some(
    ({ from, to }) => from <= time && time < to && (minutes(time) - minutes(from)) % step === 0,
  );
}

const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);

const clocks = new Map<string, Intl.DateTimeFormat>();
function clockOf(zone: string): (moment: number) => Reading {
  let format = clocks.get(zone);
  if (!format) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    format = new Intl.DateTimeFormat('sv-SE', { ...parts, timeZone: zone, hourCycle: 'h23' });
    clocks.set(zone, format);
  }
  const read = new Map<number, Reading>();
  return (moment) => {
    let reading = read.get(moment);
    if (!reading) {
      const [date = '', time = ''] = (format as Intl.DateTimeFormat).format(moment).split(' ');
      reading = { date, time };
      read.set(moment, reading);
    }
    return reading;
  };
}
