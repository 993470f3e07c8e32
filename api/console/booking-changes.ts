/** Changes by the people of a site: a new booking, blocked time, and moves to another time. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { loadBooking } from '#api/bookings/cancellation.ts';
import { otherTimes } from '#api/bookings/free-days.ts';
import { choiceOf, openSlots } from '#api/bookings/offers.ts';
import { declaredOf } from '#api/bookings/timetable.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { sendPage } from '#api/plugins/browser.ts';
import type { Site } from '#db/sites/site.ts';
import { dateOf, timeOf } from '#rules/bookings/dates.ts';
import { momentsOf, offsetPeriodsAround } from '#rules/bookings/opening-hours.ts';
import { dayAt } from '#rules/bookings/time-slots.ts';
import { dayMs } from '#rules/time.ts';
import { movePage } from '#web/console/booking.ts';
import { type TimetableShown, toTell, type Visited } from '#web/console/booking-words.ts';
import type { Refused } from '#web/console/frame.ts';
import { blockPage, newBookingPage, noTimetablePage } from '#web/console/new-booking.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action, type SentForm } from './actions.ts';
import { asDay, bookingId, bookingOf, timetableOf } from './bookings.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';

const base = '/account/sites/:id/bookings';
type Asked = Named & { Querystring: { what?: unknown; date?: unknown; from?: unknown } };

export function bookingChangePages(console: Console): void {
  const { app, deps } = console;
  const page = (request: FastifyRequest<Named>) => sitePath(request.params.id, 'bookings');

  app.get<Asked>(`${base}/new`, consolePage('booking_new'), (request, reply) => showNew(request, reply, null));
  app.get<Asked>(`${base}/block`, consolePage('booking_block'), (request, reply) => showBlock(request, reply, null));
  app.get<Asked>(`${base}/:booking/move`, consolePage('booking_move'), (request, reply) =>
    showMove(request, reply, null),
  );

  action(console, {
    path: `${base}/new`,
    operation: 'booking.create',
    input: async (request, form) => newBooking(request.params.id, form, await timetableOf(console, request)),
    done: ({ id, mail, next_action: unusual }, request) => ({
      to: `${page(request)}/${id}`,
      notice: ['Booked.', mailedWords(mail), unusual ? outsideHours : ''].filter(Boolean).join(' '),
    }),
    show: showNew,
  });

  action(console, {
    path: `${base}/block`,
    operation: 'booking.create',
    input: async (request, { field }) => {
      const timetable = await timetableOf(console, request);
      const calendar = field('calendar') ?? '';
      const at = (name: string) => momentIn(timetable, calendar, field(`${name}_date`), field(`${name}_time`));
      return { id: request.params.id, kind: 'block', calendar, start: at('from'), end: at('to') };
    },
    done: ({ id }, request) => ({ to: `${page(request)}/${id}`, notice: 'This time is blocked.' }),
    show: showBlock,
  });

  action(console, {
    path: `${base}/:booking/move`,
    operation: 'booking.move',
    input: async (request, { field }) => {
      const { booking, timetable } = await bookingOf(console, request);
      const start = field('start') ?? momentIn(timetable, booking.calendar, field('date'), field('time'));
      return { id: bookingId(request), start };
    },
    done: ({ next_action: left, ...moved }, request) => ({
      to: `${page(request)}/${bookingId(request)}`,
      notice: ['Moved.', movedWords(moved as unknown as MovedAnswer, left !== undefined)].filter(Boolean).join(' '),
    }),
    show: showMove,
  });

  async function showNew(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame, site } = await siteFrameOf(request, reply, deps, refused);
    const timetable = await timetableOf(console, request);
    if (!timetable) return sendPage(reply, noTimetablePage(frame));
    const today = dayAt(timetable.calendars[0]?.time_zone ?? 'UTC', deps.clock.now().getTime());
    const chosen = chosenIn(request.query as Asked['Querystring'], refused);
    const times = chosen ? await freeTimes(request, site, chosen) : [];
    const mails = capabilitiesOf(deps.config).mail;
    const view = { timetable, chosen, today: dateOf(today), times, mails };
    return sendPage(reply, newBookingPage(frame, view), refused?.status);
  }

  async function freeTimes({ em }: FastifyRequest, site: Site, chosen: Chosen) {
    const declared = await declaredOf(em, site);
    const keys = { serviceKey: chosen.service, calendar: { key: chosen.calendar } };
    const choice = declared && choiceOf(declared, keys);
    return choice ? (await openSlots({ em, now: deps.clock.now() }, choice, chosen.date)).slots : [];
  }

  async function showBlock(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    const timetable = await timetableOf(console, request);
    if (!timetable) return sendPage(reply, noTimetablePage(frame));
    const today = dayAt(timetable.calendars[0]?.time_zone ?? 'UTC', deps.clock.now().getTime());
    return sendPage(reply, blockPage(frame, { timetable, today: dateOf(today) }), refused?.status);
  }

  async function showMove(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame, site } = await siteFrameOf(request, reply, deps, refused);
    const view = await bookingOf(console, request);
    // The start that was refused, in the calendar's time zone.
    const refusedDay = refused?.values.start?.[0]?.slice(0, 10);
    const times = await timesOf(request, site, refusedDay);
    return sendPage(reply, movePage(frame, { ...view, ...times }), refused?.status);
  }

  /** The weeks with the asked day, and the times of the chosen day. */
  async function timesOf(request: FastifyRequest<Named>, site: Site, refusedDay: string | undefined) {
    const { em, actor } = request;
    const booking = await loadBooking(em, actor, bookingId(request));
    const declared = await declaredOf(em, site);
    const choice = declared && choiceOf(declared, booking);
    if (!choice) return { free: null, day: null };
    const { date, from } = request.query as Asked['Querystring'];
    const reading = { em, now: deps.clock.now(), moving: booking };
    return await otherTimes(reading, choice, { chosen: asDay(date ?? refusedDay), from: asDay(from) });
  }
}

function mailedWords(mail: unknown): string {
  if (mail === 'not_sent') return 'The confirmation could not be e-mailed: please tell the visitor yourself.';
  return mail ? 'The visitor gets an e-mail with a calendar file.' : 'The visitor gets no e-mail.';
}

const outsideHours = 'Visitors could not have booked this time: it is outside your timetable.';

type Chosen = { service: string; calendar: string; date: string };

/** From the first step, or from the form that was refused. */
function chosenIn({ what, date }: Asked['Querystring'], refused: Refused | null): Chosen | null {
  const value = (name: string) => refused?.values[name]?.[0];
  const [service, calendar] = typeof what === 'string' ? what.split(' ') : [value('service'), value('calendar')];
  const day = typeof what === 'string' ? date : value('date');
  const isChosen = service !== undefined && calendar !== undefined && asDay(day) !== undefined;
  return isChosen ? { service, calendar, date: String(day) } : null;
}

function newBooking(siteId: string, { field }: SentForm, timetable: TimetableShown | null) {
  const calendar = field('calendar') ?? '';
  const start = field('start');
  const [email, seats] = [field('email') || undefined, field('seats') || undefined];
  const wishes = { notify_changes: field('notify_changes') === 'yes', remind: field('remind') === 'yes' };
  return {
    id: siteId,
    kind: 'booking',
    calendar,
    service: field('service') ?? '',
    start: start === 'other' ? momentIn(timetable, calendar, field('date'), field('time')) : (start ?? ''),
    ...(seats === undefined ? {} : { seats: Number(seats) }),
    visitor: { name: field('name') ?? '', ...(email === undefined ? {} : { email, ...wishes }) },
  };
}

/** The moment of a local date and time in the calendar's zone, RFC 3339; empty if there is none, which the API refuses. */
function momentIn(
  timetable: TimetableShown | null,
  calendar: string,
  date: string | undefined,
  time: string | undefined,
): string {
  const zone = timetable?.calendars.find(({ key }) => key === calendar)?.time_zone;
  const [day, sinceMidnight] = [asDay(date), timeOf(time ?? '')];
  if (zone === undefined || day === undefined || sinceMidnight === undefined) return '';
  const [moment] = momentsOf(day * dayMs + sinceMidnight, offsetPeriodsAround(zone, day, day));
  return moment === undefined ? '' : new Date(moment).toISOString();
}

type MovedAnswer = Visited & { kind: 'booking' | 'block'; status: string };

function movedWords(moved: MovedAnswer, isUntold: boolean): string {
  if (isUntold) return toTell(moved, 'the new time', moved.status === 'held');
  return moved.kind === 'booking' && moved.visitor
    ? 'The visitor gets an e-mail with the new time and a calendar file.'
    : '';
}
