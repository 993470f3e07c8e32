/** Random timetables, zones and bookings, mostly on days of clock changes. */
import fc from 'fast-check';
import { dateOf } from '#rules/bookings/dates.ts';
import { offsetPeriods } from '#rules/bookings/time-zones.ts';
import { type Calendar, type Offering, weekdays } from '#rules/bookings/timetable.ts';
import { dayMs } from '#rules/time.ts';

/** Every zone that the platform knows, and names that the tz database keeps for older spellings. */
export const zones = [
  ...Intl.supportedValuesOf('timeZone'),
  ...['UTC', 'Etc/GMT+12', 'Etc/GMT-14', 'CET', 'EST5EDT', 'US/Pacific', 'Asia/Calcutta', 'Europe/Kiev', 'GB-Eire'],
];

const firstDay = Date.UTC(2000, 0, 1) / dayMs;
const lastDay = Date.UTC(2037, 11, 31) / dayMs;
const changes = new Map<string, number[]>();

/** Days around each change of a zone's clock. */
export function changeDays(zone: string): number[] {
  let days = changes.get(zone);
  if (!days) {
    const stretches = offsetPeriods(zone, firstDay * dayMs, lastDay * dayMs);
    days = stretches.slice(1).map(({ from, offset }) => Math.floor((from + offset) / dayMs));
    changes.set(zone, days);
  }
  return days;
}

const day = (zone: string) => {
  const near = changeDays(zone);
  const any = fc.integer({ min: firstDay, max: lastDay });
  if (near.length === 0) return any;
  const close = fc.tuple(fc.constantFrom(...near), fc.integer({ min: -1, max: 1 })).map(([one, off]) => one + off);
  return fc.oneof({ weight: 3, arbitrary: close }, { weight: 1, arbitrary: any });
};

const time = (grains: number, grain: number) => {
  const minutes = grains * grain;
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
};

/** Windows that do not overlap; some touch, and some end as the day does. */
const windows = (grain: number) =>
  fc
    .tuple(fc.uniqueArray(fc.integer({ min: 0, max: 1440 / grain }), { minLength: 2, maxLength: 6 }), fc.boolean())
    .map(([points, touching]) => {
      const sorted = points.sort((a, b) => a - b);
      const step = touching ? 1 : 2;
      const made: { from: string; to: string }[] = [];
      for (let at = 0; at + 1 < sorted.length; at += step) {
        made.push({ from: time(sorted[at] as number, grain), to: time(sorted[at + 1] as number, grain) });
      }
      return made;
    });

const nightly = fc.constantFrom(
  [{ from: '00:00', to: '24:00' }],
  [{ from: '00:00', to: '05:00' }],
  [
    { from: '00:00', to: '02:30' },
    { from: '20:00', to: '24:00' },
  ],
);

function hoursFor(grain: number) {
  const ofDay = fc.oneof({ weight: 2, arbitrary: windows(grain) }, { weight: 2, arbitrary: nightly });
  const daily = ofDay.map((all) => all.map((window) => ({ ...window, days: [...weekdays] })));
  const varied = fc.array(fc.tuple(fc.constantFrom(...weekdays), ofDay), { maxLength: 7 }).map((list) => {
    const perDay = new Map(list);
    return [...perDay].flatMap(([name, all]) => all.map((window) => ({ ...window, days: [name] })));
  });
  return fc.oneof(daily, varied);
}

export type Case = {
  grainMinutes: number;
  calendar: Omit<Calendar, 'key' | 'name'>;
  service: Offering;
  date: string;
  now: number;
  taken: { from: number; until: number; seats: number }[];
};

export const cases: fc.Arbitrary<Case> = fc
  .record({ zone: fc.constantFrom(...zones), grain: fc.constantFrom(5, 15, 15, 30) })
  .chain(({ zone, grain: wanted }) => {
    // A clock that is a quarter of an hour off meets a step of thirty minutes nowhere.
    const grain = Math.min(wanted, 15);
    const minutes = (max: number) => fc.integer({ min: 0, max: Math.floor(max / grain) }).map((count) => count * grain);
    const atLeastOne = (max: number) => minutes(max).map((some) => Math.max(some, grain));
    return day(zone).chain((chosen) =>
      fc.record({
        grainMinutes: fc.constant(grain),
        date: fc.constant(dateOf(chosen)),
        calendar: fc.record({
          capacity: fc.integer({ min: 1, max: 6 }),
          time_zone: fc.constant(zone),
          hours: hoursFor(grain),
          exceptions: fc.oneof(
            fc
              .uniqueArray(fc.tuple(fc.integer({ min: -1, max: 1 }), windows(grain)), {
                maxLength: 2,
                selector: ([at]) => at,
              })
              .map((list) => list.map(([off, hours]) => ({ date: dateOf(chosen + off), hours }))),
            fc
              .tuple(fc.integer({ min: -2, max: 1 }), fc.integer({ min: 0, max: 20 }), windows(grain))
              .map(([off, more, hours]) => [{ from: dateOf(chosen + off), to: dateOf(chosen + off + more), hours }]),
          ),
        }),
        service: fc.record({
          duration_minutes: fc.oneof(atLeastOne(180), atLeastOne(1440)),
          step_minutes: atLeastOne(240),
          buffer_before_minutes: fc.oneof(fc.constant(0), minutes(120)),
          buffer_after_minutes: fc.oneof(fc.constant(0), minutes(120)),
          lead_minutes: fc.oneof(fc.constant(0), minutes(2880)),
          horizon_days: fc.oneof(fc.constant(60), fc.integer({ min: 0, max: 3 })),
        }),
        now: fc.integer({ min: -3 * 24 * 60, max: 24 * 60 }).map((off) => chosen * dayMs + off * 60_000),
        taken: fc.array(
          fc
            .tuple(fc.integer({ min: -24 * 60, max: 48 * 60 }), atLeastOne(600), fc.integer({ min: 1, max: 3 }))
            .map(([off, long, seats]) => {
              const from = chosen * dayMs + Math.floor(off / grain) * grain * 60_000;
              return { from, until: from + long * 60_000, seats };
            }),
          { maxLength: 12 },
        ),
      }),
    );
  });
