/** Pages for payers: the link that redirects to the provider's checkout, and the state of the payment. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { isHumanNavigation } from '#api/plugins/navigation.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { refundedAmountOf } from '#db/payments/payment.ts';
import { descriptionOf } from '#db/payments/subject.ts';
import type { Deps } from '#runtime/deps.ts';
import { type PaymentShown, payPage } from '#web/pages/pay.ts';
import { openCheckout, payerReturned, paymentOfLink, statusOfLink } from './checkout.ts';

type Linked = { Params: { id: string } };

/** The provider usually confirms a payment within seconds, so the page waits this long for it. */
const returnWaitMs = 5_000;

export function payPages(app: Api, deps: Deps): void {
  app.get<Linked>('/pay/:id', pageOptions('payment.open', 'payouts'), async (request, reply) => {
    const { payment } = await paymentOfLink(request.em, request.params.id);
    if ((await statusOfLink(request.em, deps.clock, payment)) !== 'open')
      return await show(request, reply, deps, 'opened');
    if (!isHumanNavigation(request)) return await show(request, reply, deps, 'looked');
    const url = await openCheckout(deps, payment.id);
    request.em.clear();
    if (url === null) return await show(request, reply, deps, 'opened');
    return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(url, 303);
  });

  app.get<Linked>('/pay/:id/return', pageOptions('payment.return', 'payouts'), async (request, reply) => {
    const { payment } = await paymentOfLink(request.em, request.params.id);
    await payerReturned(deps, payment.id, returnWaitMs);
    request.em.clear();
    return await show(request, reply, deps, 'returned');
  });

  app.get<Linked>('/pay/:id/cancelled', pageOptions('payment.leave', 'payouts'), (request, reply) =>
    show(request, reply, deps, 'left'),
  );
}

async function show(request: FastifyRequest<Linked>, reply: FastifyReply, deps: Deps, came: PaymentShown['came']) {
  const { config, clock } = deps;
  const { payment, booking } = await paymentOfLink(request.em, request.params.id);
  const status = await statusOfLink(request.em, clock, payment);
  const { site, amount, currency, id } = payment;
  const page = payPage({
    came,
    status,
    amount,
    refunded: refundedAmountOf(payment),
    currency,
    ...(await canonicalUrl(request.em, config, site)),
    payUrl: `${config.baseUrl}/pay/${id}`,
    returnUrl: `${config.baseUrl}/pay/${id}/return`,
    title: site.title,
    description: descriptionOf(payment, booking),
    booking: booking && { reference: booking.reference, isValid: booking.status === 'confirmed' },
  });
  return sendPage(reply, page, status === 'expired' ? 410 : 200);
}
