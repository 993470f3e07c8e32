/** Bookings of a site: those to come, the week, the list, one booking, its cancellation, and calendar feeds. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { loadBooking } from '#api/bookings/cancellation.ts';
import { loadFeed } from '#api/calendar-feeds/feeds.ts';
import { withProgress } from '#api/payments/progress.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { isChangeMailed } from '#db/bookings/notified-visitors.ts';
import { dateOf, dayOf, mondayOf } from '#rules/bookings/dates.ts';
import { dayAt } from '#rules/bookings/time-slots.ts';
import { weekdays } from '#rules/bookings/timetable.ts';
import { written } from '#rules/currencies.ts';
import { bookingStatuses } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { AppError } from '#runtime/errors.ts';
import { type BookingView, bookingPage, cancellationPage } from '#web/console/booking.ts';
import { type BookingShown, isLive, type TimetableShown, toTell, type Visited } from '#web/console/booking-words.ts';
import { bookingListPage, comingPage, type FeedShown, weekPage } from '#web/console/bookings.ts';
import type { Refused } from '#web/console/frame.ts';
import { feedEndPage, newFeedPage, noTimetablePage } from '#web/console/new-booking.ts';
import type { PaymentRead } from '#web/console/payments.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action, askedAction } from './actions.ts';
import { movesOf } from './booking-moves.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { cursorOf, type Listed, read, readAll, requireOfSite } from './reading.ts';

const base = '/account/sites/:id/bookings';
type Asked = Named & { Querystring: { week?: unknown; status?: unknown; cursor?: unknown } };
type OneOf = { Params: { id: string; booking: string } };
/** Of a list that is shown whole, in hundreds. */
const pagesMax = 5;

export function bookingPages(console: Console): void {
  const { app, deps } = console;

  app.get<Asked>(base, consolePage('bookings'), (request, reply) => showStart(request, reply, null));
  app.get<Asked>(`${base}/list`, consolePage('booking_list'), showList);
  app.get<OneOf>(`${base}/:booking`, consolePage('booking'), async (request, reply) => {
    const { frame } = await siteFrameOf(request, reply, deps);
    return sendPage(reply, bookingPage(frame, await bookingOf(console, request)));
  });
  app.get<OneOf>(`${base}/:booking/cancel`, consolePage('booking_cancel'), (request, reply) =>
    showCancellation(request, reply, null),
  );

  action(console, {
    path: `${base}/:booking/cancel`,
    operation: 'booking.cancel',
    input: (request) => ({ id: bookingId(request) }),
    done: (answer, request) => ({
      to: `${sitePath(request.params.id, 'bookings')}/${bookingId(request)}`,
      notice: cancelledWords(answer as unknown as CancelledAnswer),
    }),
    show: showCancellation,
  });

  action(console, {
    path: `${base}/feeds`,
    operation: 'calendar_feed.create',
    input: ({ params: { id } }) => ({ id }),
    done: async ({ url }, request, _form, reply) => ({
      page: newFeedPage((await siteFrameOf(request, reply, deps)).frame, String(url)),
    }),
    show: showStart,
  });

  askedAction(console, {
    page: 'feed_end',
    path: `${base}/feeds/:feed/end`,
    operation: 'calendar_feed.end',
    async ask(request, reply, refused) {
      const { frame } = await siteFrameOf(request, reply, deps, refused);
      const feed = await loadFeed(request.em, request.actor, feedId(request));
      requireOfSite(request, feed);
      return feedEndPage(frame, feed.id);
    },
    input: (request) => ({ id: feedId(request) }),
    done: (_answer, { params }) => ({
      to: sitePath(params.id, 'bookings'),
      notice: 'The calendar address is revoked. Calendars that use it show no new bookings.',
    }),
  });

  async function showStart(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    const timetable = await timetableOf(console, request);
    if (!timetable) return sendPage(reply, noTimetablePage(frame), refused?.status);
    const { items: feeds } = await readAll<FeedShown>(console, request, 'calendar_feed.list', request.params);
    const { week } = request.query as Asked['Querystring'];
    const page =
      week === undefined
        ? comingPage(frame, { timetable, feeds, ...(await comingOf(request)) })
        : weekPage(frame, { timetable, feeds, ...(await weekOf(request, timetable, asDay(week))) });
    return sendPage(reply, page, refused?.status);
  }

  /** Those that have not ended, the next one first. */
  async function comingOf(request: FastifyRequest<Named>) {
    const { items, isCut } = await readAll<BookingShown>(console, request, 'booking.list', {
      id: request.params.id,
      from: deps.clock.now().toISOString(),
      pages: pagesMax,
    });
    const startOf = ({ start }: BookingShown) => Date.parse(start);
    return { bookings: items.filter(isLive).sort((one, other) => startOf(one) - startOf(other)), isCut };
  }

  async function weekOf(request: FastifyRequest<Named>, timetable: TimetableShown, day: number | undefined) {
    const today = dayAt(timetable.calendars[0]?.time_zone ?? 'UTC', deps.clock.now().getTime());
    const monday = mondayOf(day ?? today);
    const { items, isCut } = await readAll<BookingShown>(console, request, 'booking.list', {
      id: request.params.id,
      // A day more at each end, for every time zone.
      from: new Date((monday - 1) * dayMs).toISOString(),
      to: new Date((monday + 8) * dayMs).toISOString(),
      pages: pagesMax,
    });
    const days = weekdays.map((_name, at) => {
      const date = dateOf(monday + at);
      return { date, isToday: monday + at === today, bookings: bookingsOn(items, date) };
    });
    return { days, previous: dateOf(monday - 7), next: dateOf(monday + 7), isCut };
  }

  async function showList(request: FastifyRequest<Asked>, reply: FastifyReply) {
    const { frame } = await siteFrameOf(request, reply, deps);
    const timetable = await timetableOf(console, request);
    if (!timetable) return sendPage(reply, noTimetablePage(frame));
    const status = bookingStatuses.find((one) => one === request.query.status) ?? null;
    const { items, next_cursor: cursor } = await read<Listed<BookingShown>>(console, request, 'booking.list', {
      id: request.params.id,
      ...(status ? { status } : {}),
      ...cursorOf(request.query),
    });
    return sendPage(reply, bookingListPage(frame, { timetable, bookings: items, status, cursor }));
  }

  async function showCancellation(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    return sendPage(reply, cancellationPage(frame, await bookingOf(console, request)), refused?.status);
  }
}

const feedId = ({ params }: FastifyRequest): string => (params as { feed: string }).feed;
export const bookingId = ({ params }: FastifyRequest): string => (params as OneOf['Params']).booking;

/** The timetable, also an ended one; null if the site never had one. */
export async function timetableOf(console: Console, request: FastifyRequest<Named>): Promise<TimetableShown | null> {
  try {
    return await read<TimetableShown>(console, request, 'bookable.read', { id: request.params.id });
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

const noServices: TimetableShown = {
  status: 'ended',
  url: '',
  notify_to: '',
  notify_options: [],
  calendars: [],
  services: [],
};

/** The booking of the page. Throws `not_found` for one of another site. */
export async function bookingOf(console: Console, request: FastifyRequest<Named>): Promise<BookingView> {
  const id = bookingId(request);
  const { em, actor } = request;
  const row = await loadBooking(em, actor, id);
  requireOfSite(request, row);
  const booking = await read<BookingShown>(console, request, 'booking.read', { id });
  const timetable = (await timetableOf(console, request)) ?? noServices;
  const { payment_id: paid } = booking;
  const payments = paid === null ? [] : [await read<PaymentRead>(console, request, 'payment.read', { id: paid })];
  const [payment = null] = await withProgress(em, console.deps.clock, payments);
  const moves = await movesOf(em, actor, row);
  return { timetable, booking, payment, moves, isMailed: await isChangeMailed(em, console.deps.config, row) };
}

export const asDay = (text: unknown): number | undefined => (typeof text === 'string' ? dayOf(text) : undefined);

/** The live bookings of a local date, also of several days, in order. */
function bookingsOn(bookings: readonly BookingShown[], date: string): BookingShown[] {
  return bookings
    .filter((one) => isLive(one) && one.start.slice(0, 10) <= date && one.end.slice(0, 16) > `${date}T00:00`)
    .sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
}

type CancelledAnswer = Visited & {
  kind: 'booking' | 'block';
  mail: string | null;
  payment_id: string | null;
  refund: { amount: number; currency: string; status: 'refunding' | 'refunded' | 'owed' } | null;
};

function cancelledWords(cancelled: CancelledAnswer): string {
  const { kind, mail, visitor, refund, payment_id: paymentId } = cancelled;
  if (kind === 'block') return 'The block is removed.';
  const money = refund ? [refundWords(written(refund), refund.status)] : [];
  const isTold = mail !== null && mail !== 'not_sent';
  const wasHeld = paymentId !== null && refund === null;
  const told = isTold
    ? 'The visitor gets an e-mail about it.'
    : toTell(cancelled, 'that the booking is cancelled', wasHeld);
  return ['The booking is cancelled.', ...money, visitor ? told : ''].filter(Boolean).join(' ');
}

const refundWords = (sum: string, status: 'refunding' | 'refunded' | 'owed') =>
  status === 'owed'
    ? `The visitor is owed ${sum}. The owner of the payout account that received it has to refund it with their payment provider.`
    : `${sum} is being refunded. Then the payer gets an e-mail, if the payment provider has their address.`;
