import type { FastifyRequest } from 'fastify';
import { loadSite, roleOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Payment } from '#db/payments/payment.ts';
import { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { createPayment, loadPayment, paymentsWithStatus, refundPayment, waitForRefund } from './rules.ts';
import { paymentInput, paymentSchema, paymentsQuery, paymentView } from './schemas.ts';

type Asked = Pick<FastifyRequest, 'em' | 'actor'>;

/** Payments, for the site's people. */
export function paymentRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const capability = 'payouts' as const;
  const view = async ({ em, actor }: Asked, payment: Payment) => {
    const site = await em.findOneOrFail(Site, { id: payment.site.id });
    return paymentView(config, payment, { now: clock.now(), role: roleOf(site, actor) });
  };
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
        invalid: { amount: 'invalid_payment', currency: 'invalid_payment', reference: 'invalid_payment' },
        replay,
      },
      schema: {
        summary: 'Request a payment',
        description:
          'Creates a payment and a payment link that is valid for 30 days. The money goes to the site’s current payout account.',
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
        description: 'Returns the newest payments first, including payments for bookings.',
        params: idParams,
        querystring: paymentsQuery,
        response: { 200: listOf(paymentSchema) },
      },
    },
    async (request) => {
      const { em, actor, params, query } = request;
      const site = await loadSite(em, actor, params.id);
      const { status, since } = query;
      const { rows, next_cursor } = await page(
        config.secret,
        ['payments', site.id, status ?? '', since?.toISOString() ?? ''],
        query,
        newestFirst(em, Payment, {
          $and: [
            { site: site.id },
            ...(status === undefined ? [] : [paymentsWithStatus(status, clock.now())]),
            ...(since === undefined ? [] : [{ createdAt: { $gte: since } }]),
          ],
        }),
        byId,
      );
      return { items: await Promise.all(rows.map((row) => view(request, row))), next_cursor };
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
    '/v1/payments/:id/refund',
    {
      config: { operation: 'payment.refund', needs: 'write', capability, replay },
      schema: {
        summary: 'Refund a payment',
        description:
          'Refunds the full amount. Waits for as long as `Prefer` allows; if the refund is not complete by then, the status is `refunding`. A payment that ' +
          'has already been refunded is returned unchanged. A booking keeps its seat: to free the seat, cancel the booking, which also refunds the payment. Only the owner can call this.',
        params: idParams,
        response: { 200: paymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params } = request;
      request.answeredId = params.id;
      await refundPayment(em, deps, actor, params.id);
      return await view(request, await waitForRefund(deps, params.id, request.waitMs));
    },
  );
}
