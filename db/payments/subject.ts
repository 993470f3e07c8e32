/** What a payment is for, and whom it is paid to: as the payer reads it. */
import { Booking, type WholeBooking } from '#db/bookings/booking.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { sessionFor } from '#providers/payments/sessions.ts';
import type { NewCheckoutSession } from '#providers/payments.ts';
import { bookingDescription } from '#rules/bookings/description.ts';
import type { Config } from '#runtime/config.ts';
import type { Payment } from './payment.ts';
import type { PaymentAttempt } from './payment-attempt.ts';

type Described = Pick<Payment, 'id' | 'description'>;

/** The bookings that these payments are for, by the payment's id. */
export async function bookingsOf(em: EntityManager, payments: readonly string[]): Promise<Map<string, WholeBooking>> {
  if (payments.length === 0) return new Map();
  const bookings = await em.find(Booking, { paymentId: { $in: [...payments] } }, { populate: ['calendar'] });
  return new Map(bookings.map((booking) => [booking.paymentId as string, booking]));
}

/** The caller's own words, or the booked service and its time; null if there is neither. */
export function descriptionOf({ description }: Described, booking: WholeBooking | null | undefined): string | null {
  if (description != null || !booking) return description ?? null;
  const { serviceName, startsAt, seats, calendar } = booking;
  return bookingDescription({ service: serviceName, startsAt, timeZone: calendar.timeZone, seats });
}

/** The request for the checkout session of an attempt, which shows the payer the business and what is paid for. */
export async function checkoutRequest(
  em: EntityManager,
  config: Config,
  payment: Payment,
  attempt: PaymentAttempt,
): Promise<NewCheckoutSession> {
  const site = await em.findOneOrFail(Site, { id: payment.site.id });
  const description = descriptionOf(payment, (await bookingsOf(em, [payment.id])).get(payment.id));
  const { hostname } = await canonicalUrl(em, config, site);
  return sessionFor(config, { ...payment, description }, attempt, { title: site.title, hostname });
}
