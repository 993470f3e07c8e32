/**
 * The link in a visitor's mail. Opening it shows the booking, and leads to the page that moves it; only the button cancels
 * it, so link scanners change nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { cancelPage, linkedBookingPage } from '#web/pages/booking.ts';
import { cancelBooking, type MoneyBack } from './cancellation.ts';
import { bookingOf, closedWords, type Linked, shownOf, timesFor } from './linked-booking.ts';

export function cancellationPages(app: Api, deps: Deps): void {
  app.get<Linked>(
    '/b/:public_id/cancel/:secret',
    pageOptions('booking.show_to_visitor', 'bookings'),
    (request, reply) => show(request, reply, deps),
  );

  app.post<Linked>(
    '/b/:public_id/cancel/:secret',
    pageOptions('booking.cancel_by_visitor', 'bookings'),
    async (request, reply) => {
      const { site, booking } = await bookingOf(request);
      if (closedWords(booking, deps.clock.now()) !== undefined) return show(request, reply, deps);
      const done = await cancelBooking(request.em, deps, booking, 'visitor').catch(notCancellableAsNull);
      if (!done) {
        // The button was pressed twice, or the booking has changed since it was read.
        request.em.clear();
        return show(request, reply, deps);
      }
      const { booking: cancelled, moneyBack } = done;
      const title = 'Your booking is cancelled';
      const notified = cancelled.notice ? 'We are notifying the owner by e-mail.' : 'Please tell the owner.';
      const confirmed = cancelled.mail ? ' We are also sending you an e-mail about it.' : '';
      const text = `${notified}${confirmed}${moneyBack ? refundWords[moneyBack.way] : ''}`;
      return sendPage(reply, linkedBookingPage({ ...(await shownOf(request.em, booking, site, deps)), title, text }));
    },
  );
}

function notCancellableAsNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_cancellable') return null;
  throw error;
}

const refundWords: Record<MoneyBack['way'], string> = {
  automatic: ' Your payment is being refunded, which can take a few days.',
  'by the owner': ' The owner of the website has to refund your payment directly. Please ask them for the refund.',
};

async function show(request: FastifyRequest<Linked>, reply: FastifyReply, deps: Deps) {
  const { site, booking } = await bookingOf(request);
  const facts = await shownOf(request.em, booking, site, deps);
  const closed = closedWords(booking, deps.clock.now());
  if (closed) return sendPage(reply, linkedBookingPage({ ...facts, ...closed }), 410);
  const canMove = (await timesFor(request.em, site, booking)) !== null;
  const moveUrl = canMove ? `../move/${request.params.secret}` : null;
  return sendPage(reply, cancelPage({ ...facts, moveUrl, form: formsFor(request, reply, deps) }));
}
