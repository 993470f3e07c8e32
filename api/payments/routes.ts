import type { FastifyRequest } from 'fastify';
import { loadSite, roleOf } from '#api/access.ts';
import type { Api, Authenticated } from '#api/api.ts';
import { byId, listOf, newestFirst, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Payment } from '#db/payments/payment.ts';
import { refundsMade } from '#db/payments/refunds-made.ts';
import { bookingsOf } from '#db/payments/subject.ts';
import { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { closePayment, waitForClosing } from './closing.ts';
import { refundPayment, waitForRefund } from './refunds.ts';
import { createPayment, loadPayment, paymentsWithStatus, somethingRefunded } from './rules.ts';
import { paymentInput, paymentSchema, paymentsQuery, paymentView, refundInput } from './schemas.ts';

/** Payments, for the site's people. */
export function paymentRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const capability = 'payouts' as const;
  const views = async ({ em, actor }: Authenticated, payments: Payment[]) => {
    const bookings = await bookingsOf(em, payments.map(byId));
    const refunds = await refundsMade(em, payments);
    const rendered = payments.map(async (payment) => {
      const site = await em.findOneOrFail(Site, { id: payment.site.id });
      const of = { booking: bookings.get(payment.id) ?? null, refunds: refunds.get(payment.id) ?? [] };
      const context = { now: clock.now(), role: roleOf(site, actor), ...of };
      return paymentView(config, payment, context);
    });
    return await Promise.all(rendered);
  };
  const view = async (request: Authenticated, payment: Payment) =>
    (await views(request, [payment]))[0] as Awaited<ReturnType<typeof views>>[number];
  const replay = async (request: FastifyRequest, id: string) =>
    await view(request, await loadPayment(request.em, request.actor, id));

  app.post(
    '/v1/sites/:id/payments',
    {
      config: {
        operation: 'payment.create',
        needs: 'write',
        capability,
        makes: 'pay',
        invalid: {
          amount: 'invalid_payment',
          currency: 'invalid_payment',
          reference: 'invalid_payment',
          description: 'invalid_payment',
        },
        replay,
      },
      schema: {
        summary: 'Request a payment',
        description:
          'Creates a payment and a payment link that is valid for 30 days and can be paid once. The money goes to the site’s current payout account.',
        params: idParams,
        body: paymentInput,
        response: { 200: paymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const input = { id: request.newId('pay'), siteId: params.id, input: body };
      return await view(request, await createPayment(em, deps, actor, input));
    },
  );

  app.get(
    '/v1/sites/:id/payments',
    {
      config: { operation: 'payment.list', needs: 'read', capability },
      schema: {
        summary: 'List a site’s payments',
        description:
          'Returns the newest payments first, including payments for bookings. What was taken is the sum of `amount` of those that are paid, less their `refunded_amount`.',
        params: idParams,
        querystring: paymentsQuery,
        response: { 200: listOf(paymentSchema) },
      },
    },
    async (request) => {
      const { em, actor, params, query } = request;
      const site = await loadSite(em, actor, params.id);
      const { status, refunded, since, reference } = query;
      const { rows, next_cursor } = await page(
        config.secret,
        ['payments', site.id, status ?? '', refunded, since?.toISOString() ?? '', reference ?? ''],
        query,
        newestFirst(em, Payment, {
          $and: [
            { site: site.id },
            ...(status === undefined ? [] : [paymentsWithStatus(status, clock.now())]),
            ...(refunded === 'true' ? [somethingRefunded] : []),
            ...(since === undefined ? [] : [{ createdAt: { $gte: since } }]),
            ...(reference === undefined ? [] : [{ reference }]),
          ],
        }),
        byId,
      );
      return { items: await views(request, rows), next_cursor };
    },
  );

  app.get(
    '/v1/payments/:id',
    {
      config: { operation: 'payment.read', needs: 'read', capability },
      schema: { summary: 'Read a payment', params: idParams, response: { 200: paymentSchema } },
    },
    async (request) => await view(request, await loadPayment(request.em, request.actor, request.params.id)),
  );

  app.post(
    '/v1/payments/:id/expire',
    {
      config: { operation: 'payment.expire', needs: 'write', capability, replay },
      schema: {
        summary: 'Close a payment link',
        description:
          'Closes an open link: first the page at the payment provider, then the payment, which is `expired`. Waits for as long as `Prefer` allows. ' +
          'If the payer has paid in the meantime, the payment is `paid`, and it can be refunded. A payment that is not open is returned unchanged. The hold of a booking ends with its link.',
        params: idParams,
        response: { 200: paymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params } = request;
      request.answeredId = params.id;
      await closePayment(em, deps, actor, params.id);
      return await view(request, await waitForClosing(deps, params.id, request.waitMs));
    },
  );

  app.post(
    '/v1/payments/:id/refund',
    {
      config: {
        operation: 'payment.refund',
        needs: 'write',
        ownerOnly: true,
        capability,
        invalid: { amount: 'invalid_payment' },
        replay,
      },
      schema: {
        summary: 'Refund a payment',
        description:
          'Refunds all that is left, or with `amount` a part. A part requires an `Idempotency-Key`. Waits for as long as `Prefer` allows; if the refund is not ' +
          'complete by then, the status is `refunding`, or `paid` with a lower `refunded_amount`. The status stays `paid` until `refunded_amount` equals `amount`. A payment that ' +
          'has already been refunded is returned unchanged, unless a part of it is requested. A booking keeps its seat: to free the seat, cancel the booking, which also refunds the payment.',
        params: idParams,
        body: refundInput,
        response: { 200: paymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const part = body.amount === undefined ? null : { id: request.newId('ref'), amount: body.amount };
      if (part && !request.attempt) {
        throw errors.invalid_input('The refund of a part requires an idempotency key, so that it is made once.', {
          nextAction: `Send ${call('payment.refund', { id: params.id })} with the same amount and an idempotency key of your choice.`,
        });
      }
      request.answeredId = params.id;
      await refundPayment(em, deps, actor, params.id, part);
      return await view(request, await waitForRefund(deps, params.id, part, request.waitMs));
    },
  );
}
