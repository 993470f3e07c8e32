/** The page on which a visitor moves a booking, behind the link in their e-mail. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { instant } from '#api/schemas.ts';
import { dayOf } from '#rules/bookings/dates.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { linkedBookingPage } from '#web/pages/booking.ts';
import { movePage } from '#web/pages/visitors/move-page.ts';
import { otherTimes } from './free-days.ts';
import { bookingOf, closedWords, type Linked, shownOf, timesFor } from './linked-booking.ts';
import { moveBooking } from './moving.ts';
import type { ShownBooking } from './schemas.ts';
import { isMoveMailed } from './unnotified-visitors.ts';

type Asked = Linked & { Querystring: { date?: unknown; from?: unknown } };
type Wrong = { text: string; status: number };

export function movePages(app: Api, deps: Deps): void {
  const url = '/b/:public_id/move/:secret';
  app.get<Asked>(url, pageOptions('booking.show_times_to_visitor', 'bookings'), (request, reply) =>
    show(request, reply, deps),
  );

  app.post<Asked>(url, pageOptions('booking.move_by_visitor', 'bookings'), async (request, reply) => {
    const { site, booking } = await bookingOf(request);
    if (closedWords(booking, deps.clock.now())) return show(request, reply, deps);
    const start = instant.safeParse(readForm(request).field('start'));
    if (!start.success) return show(request, reply, deps, { text: 'Please choose a time.', status: 400 });
    const moved = await moveBooking(deps, 'visitor', booking, { start: start.data }).catch(takenMeanwhile);
    if ('text' in moved) return show(request, reply, deps, moved);
    const facts = await shownOf(request.em, moved, site, deps);
    const done = { title: 'Your booking has a new time', text: notifiedWords(moved), changeUrl: changeUrlOf(request) };
    return sendPage(reply, linkedBookingPage({ ...facts, ...done }));
  });
}

/** The time is not available any more: the page then shows the others. */
function takenMeanwhile(error: unknown): Wrong {
  if (!(error instanceof AppError) || !['slot_taken', 'invalid_slot'].includes(error.code)) throw error;
  return { text: 'That time is not available any more. Please choose another one.', status: error.status };
}

function notifiedWords(moved: ShownBooking): string {
  const owner = moved.notice ? 'We are notifying the owner by e-mail.' : 'Please tell the owner.';
  return isMoveMailed(moved)
    ? `${owner} We are also sending you an e-mail about it.`
    : `${owner} You get no e-mail about it: please write down the new time, and change it in your calendar.`;
}

async function show(request: FastifyRequest<Asked>, reply: FastifyReply, deps: Deps, wrong?: Wrong) {
  const { em, query } = request;
  const { site, booking } = await bookingOf(request);
  const facts = await shownOf(em, booking, site, deps);
  const now = deps.clock.now();
  const choice = await timesFor(em, site, booking);
  const closed = closedWords(booking, now);
  if (closed || !choice) {
    const why = closed ?? { ...notMovable, changeUrl: changeUrlOf(request) };
    return sendPage(reply, linkedBookingPage({ ...facts, ...why }), 410);
  }
  const asked = { chosen: dayIn(query.date), from: dayIn(query.from) };
  const times = await otherTimes({ em, now, moving: booking }, choice, asked);
  const form = formsFor(request, reply, deps);
  return sendPage(reply, movePage({ ...facts, times, form, wrong: wrong?.text }), wrong?.status);
}

/** The page behind the link in the visitor's e-mail. */
const changeUrlOf = ({ params: { secret } }: FastifyRequest<Asked>) => `../cancel/${secret}`;

const notMovable = {
  title: 'This booking cannot be moved here',
  text: 'The website no longer offers this online. Please contact its owner.',
};

/** The day that the page's address names, if any. Throws `invalid_input`. */
function dayIn(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const day = typeof text === 'string' ? dayOf(text) : undefined;
  if (day !== undefined) return day;
  throw errors.invalid_input('This page does not exist. Open the link in your e-mail again.');
}
