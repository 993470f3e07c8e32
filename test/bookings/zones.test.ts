/** The same moment in the API, the widget, the e-mail and its calendar file, in two time zones. */
import fc from 'fast-check';
import ICAL from 'ical.js';
import { expect, test } from 'vitest';
import { isoLocal, offsetPeriods } from '#rules/bookings/time-zones.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';
import { sized } from '#test/campaigns/size.ts';
import { writeMail } from '#web/mails/mails.ts';
import { differs, momentText, slotTimes } from '#web/widgets/booking/zones.js';
import { zones } from './timetables.ts';

const runs = sized({ one: 60, short: 3_000, long: 30_000 });
const [first, last] = [Date.UTC(2000, 0, 1), Date.UTC(2037, 11, 31)];

/** Changes of a zone's clock. */
const changes = new Map<string, number[]>();
function changesOf(zone: string): number[] {
  const known = changes.get(zone);
  if (known) return known;
  const found = offsetPeriods(zone, first, last)
    .slice(1)
    .map(({ from }) => from);
  changes.set(zone, found);
  return found;
}

/** Mostly within two hours of a change of one of the clocks. */
const triples = fc.tuple(fc.constantFrom(...zones), fc.constantFrom(...zones)).chain(([zone, visitorZone]) => {
  const near = [...changesOf(zone), ...changesOf(visitorZone)];
  const any = fc.integer({ min: first / minuteMs, max: last / minuteMs }).map((minute) => minute * minuteMs);
  const close = fc
    .tuple(fc.constantFrom(...near, first), fc.integer({ min: -120, max: 120 }))
    .map(([change, minutes]) => change + minutes * minuteMs);
  const instant = fc.oneof({ weight: 4, arbitrary: close }, { weight: 1, arbitrary: any });
  return fc.record({ zone: fc.constant(zone), visitorZone: fc.constant(visitorZone), instant });
});

const months = 'January February March April May June July August September October November December'.split(' ');

/** The moment that a person reads in a text such as `Sunday 25 October 2026 at 02:30 (Europe/Berlin, UTC+02:00)`. */
function read(text: string): { at: number; zone: string } {
  const date = /(\d{1,2}) (\w+) (\d{4})/.exec(text);
  const time = /(\d{2}):(\d{2})/.exec(text);
  const zone = /\(([^(),]+), UTC([+-]\d{2}:\d{2})?\)/.exec(text) ?? /, ([^(),]+) \(UTC([+-]\d{2}:\d{2})?\)/.exec(text);
  if (!date || !time || !zone) throw new Error(`not a moment with its zone: ${text}`);
  const day = Date.UTC(Number(date[3]), months.indexOf(date[2] ?? ''), Number(date[1]));
  const offset = zone[2] ?? '+00:00';
  const offsetMs =
    (offset.startsWith('-') ? -1 : 1) * (Number(offset.slice(1, 3)) * hourMs + Number(offset.slice(4)) * minuteMs);
  return { at: day + Number(time[1]) * hourMs + Number(time[2]) * minuteMs - offsetMs, zone: zone[1] ?? '' };
}

function mailed(instant: number, timeZone: string, visitorZone: string) {
  const facts = {
    ...{ id: 'book_x', reference: 'ABCD1234', hostname: 'x.example', address: 'https://x.example', seats: 1 },
    ...{ service: 'A talk', calendar: 'Room', createdAt: '2026-01-01T00:00:00Z', timeZone, visitorZone },
    start: isoLocal(timeZone, instant),
    end: isoLocal(timeZone, instant + hourMs),
    cancelUrl: 'https://p.example/b/x/cancel/y',
  };
  const { text, attachments } = writeMail('booking-confirmed', facts, { baseUrl: 'https://p.example' });
  const row = (label: string) => new RegExp(`^${label}: (.*)$`, 'm').exec(text)?.[1];
  const calendar = new ICAL.Component(ICAL.parse(attachments?.[0]?.content ?? ''));
  const event = new ICAL.Event(calendar.getFirstSubcomponent('vevent') as never);
  return { when: row('When') ?? '', own: row('In your time zone'), file: event.startDate.toJSDate().getTime() };
}

test('API, widget, e-mail and calendar file say the same moment in both zones', { timeout: 3_600_000 }, () => {
  let repeated = 0;
  fc.assert(
    fc.property(triples, ({ zone, visitorZone, instant }) => {
      const start = isoLocal(zone, instant);
      expect(Date.parse(start)).toBe(instant);
      for (const shown of [zone, visitorZone]) {
        const widget = read(momentText(start, shown, 'en-GB'));
        expect(widget).toEqual({ at: instant, zone: shown.replaceAll('_', ' ') });
        const [time] = slotTimes([start], shown, { locale: 'en-GB' });
        expect(time).toBe(isoLocal(shown, instant).slice(11, 16));
      }
      const mail = mailed(instant, zone, visitorZone);
      expect([read(mail.when), mail.file]).toEqual([{ at: instant, zone }, instant]);
      // The visitor's own time is left out only where both clocks show the same.
      if (mail.own) expect(read(mail.own)).toEqual({ at: instant, zone: visitorZone });
      else expect(differs(start, zone, visitorZone)).toBe(false);
      if (isoLocal(zone, instant).slice(0, 19) === isoLocal(zone, instant + hourMs).slice(0, 19)) repeated += 1;
    }),
    { numRuns: runs, seed: 23 },
  );
  if (runs > 1_000) expect(repeated).toBeGreaterThan(runs / 100);
});

test('an hour that occurs twice has its offsets, and another day its weekday', () => {
  const moments = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'];
  const berlin = slotTimes(moments, 'Europe/Berlin', { locale: 'en-GB' });
  expect(berlin).toEqual(['02:30 (UTC+02:00)', '02:30 (UTC+01:00)']);
  const newYork = slotTimes(moments, 'America/New_York', { locale: 'en-GB', dayIn: 'Europe/Berlin' });
  expect(newYork).toEqual(['Sat 20:30', 'Sat 21:30']);
});

test('the days of a clock change are among the random moments', () => {
  expect(changesOf('Europe/Berlin').length).toBeGreaterThan(70);
  expect(changesOf('Europe/Berlin').every((at) => at % dayMs === hourMs)).toBe(true);
});
