/** Payments of a site: the list, new links, refunds, and links that are closed. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { capabilitiesOf } from '#api/capabilities.ts';
import { payoutDestination } from '#api/payments/payout-destination.ts';
import { withProgress } from '#api/payments/progress.ts';
import { sendPage } from '#api/plugins/browser.ts';
import type { Site } from '#db/sites/site.ts';
import { amountFrom, written } from '#rules/currencies.ts';
import { type PaymentStatus, paymentStatuses } from '#rules/states.ts';
import { errors } from '#runtime/errors.ts';
import type { Refused, SiteFrame } from '#web/console/frame.ts';
import {
  closingPage,
  isChanging,
  newPaymentPage,
  type PaymentRead,
  type PaymentShown,
  paymentPage,
  paymentsPage,
  stateOf,
} from '#web/console/payments.ts';
import { refundPage } from '#web/console/refund.ts';
import { sitePath } from '#web/console/tabs.ts';
import type { WrittenPage } from '#web/page.ts';
import { action } from './actions.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { cursorOf, type Listed, read, readAll, requireOfSite } from './reading.ts';

const base = '/account/sites/:id/payments';
type Asked = Named & { Querystring: { status?: unknown; cursor?: unknown } };
type OneOf = { Params: { id: string; payment: string } };
type Account = { id: string; name: string; status: string };

export function paymentPages(console: Console): void {
  const { app } = console;
  const show = (page: OnePage) => (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) =>
    showOne(console, { request, reply, refused }, page);

  app.get<Asked>(base, consolePage('payments'), (request, reply) => showList(console, request, reply, null));
  app.get<Named>(`${base}/new`, consolePage('payment_new'), (request, reply) => showNew(console, request, reply, null));
  for (const [path, page] of [
    ['', paymentPage],
    ['/close', closingPage],
  ] as const) {
    const options = consolePage(`payment${path.replace('/', '_')}`);
    app.get<OneOf>(`${base}/:payment${path}`, options, (request, reply) => show(page)(request, reply, null));
  }

  app.get<OneOf>(`${base}/:payment/refund`, consolePage('payment_refund'), (request, reply) =>
    showRefund(console, { request, reply, refused: null }),
  );

  app.get<OneOf>(`${base}/:payment/progress`, consolePage('payment_progress'), async (request, reply) => {
    const payment = await paymentOf(console, request);
    reply.header('cache-control', 'no-store');
    return { status: stateOf(payment), isOver: !isChanging(payment), log: '' };
  });

  action(console, {
    path: `${base}/new`,
    operation: 'payment.create',
    input: ({ params: { id } }, { field }) => {
      const [currency, description, reference] = [field('currency') ?? '', field('description'), field('reference')];
      const amount = amountOf(field('amount'), currency);
      return { id, amount, currency, ...(description ? { description } : {}), ...(reference ? { reference } : {}) };
    },
    done: ({ id }, { params }) => ({
      to: `${sitePath(params.id, 'payments')}/${id}`,
      notice: 'The payment link is ready. Send it to the person who pays.',
    }),
    show: (request, reply, refused) => showNew(console, request, reply, refused),
  });

  action(console, {
    path: `${base}/:payment/refund`,
    operation: 'payment.refund',
    input: async (request, { field }) => {
      const { id, refundable_amount: left, currency } = await paymentOf(console, request);
      const amount = amountOf(field('amount'), currency);
      return amount === left ? { id } : { id, amount };
    },
    done: (answer, request, { field }) => ({ to: pathOf(request), notice: refundWords(answer, field('amount')) }),
    show: (request, reply, refused) => showRefund(console, { request, reply, refused }),
  });

  action(console, {
    path: `${base}/:payment/close`,
    operation: 'payment.expire',
    input: (request) => ({ id: paymentId(request) }),
    done: ({ status }, request) => ({ to: pathOf(request), notice: closingWords(status) }),
    show: show(closingPage),
  });

  action(console, {
    path: `${base}/payout-account`,
    operation: 'payout_agreement.attach',
    input: ({ params: { id } }, { field }) => ({ id, payout_account_id: field('account') ?? '' }),
    done: (_answer, { params }) => ({
      to: sitePath(params.id, 'payments'),
      notice: 'Payments on this site now go to that payout account.',
    }),
    show: (request, reply, refused) => showList(console, request, reply, refused),
  });
}

/** As refunded are listed also those of which a part was refunded, whose status stays `paid`. */
function filterOf(status: PaymentStatus | null): Record<string, string> {
  if (status === null) return {};
  return status === 'refunded' ? { refunded: 'true' } : { status };
}

function closingWords(status: unknown): string {
  if (status === 'expired') return 'The link is closed.';
  if (status === 'open') return 'The link is being closed. This takes a few seconds.';
  return 'It was paid in the meantime, so the link could not be closed.';
}

const paymentId = ({ params }: FastifyRequest): string => (params as OneOf['Params']).payment;
const pathOf = (request: FastifyRequest<Named>): string =>
  `${sitePath(request.params.id, 'payments')}/${paymentId(request)}`;

type OnePage = (frame: SiteFrame, payment: PaymentShown) => WrittenPage;

/** Throws `not_found` for a payment of another site. */
async function paymentOf(console: Console, request: FastifyRequest<Named>): Promise<PaymentShown> {
  const id = paymentId(request);
  const payment = await read<PaymentRead & { site_id: string }>(console, request, 'payment.read', { id });
  requireOfSite(request, payment);
  const [shown] = await withProgress(request.em, console.deps.clock, [payment]);
  if (!shown) throw new Error('the payment has no row');
  return shown;
}

type Asking = { request: FastifyRequest<Named>; reply: FastifyReply; refused: Refused | null };

async function showOne(console: Console, { request, reply, refused }: Asking, page: OnePage) {
  const { frame } = await siteFrameOf(request, reply, console.deps, refused);
  return sendPage(reply, page(frame, await paymentOf(console, request)), refused?.status);
}

/** Asks for the amount, or before the refund of the amount in the page's address. */
async function showRefund(console: Console, { request, reply, refused }: Asking) {
  const payment = await paymentOf(console, request);
  const { amount: typed } = request.query as { amount?: unknown };
  const isTyped = refused === null && typeof typed === 'string';
  const amount = isTyped ? (amountFrom(typed, payment.currency) ?? null) : null;
  const fault = isTyped ? amountFault(request, payment, { typed, amount }) : refused;
  const { frame } = await siteFrameOf(request, reply, console.deps, fault);
  return sendPage(reply, refundPage(frame, payment, amount), fault?.status);
}

/** What is wrong with the amount in the page's address. */
function amountFault(
  request: FastifyRequest<Named>,
  { currency, refundable_amount: left }: PaymentShown,
  { typed, amount }: { typed: string; amount: number | null },
): Refused | null {
  if (amount !== null && amount > 0 && amount <= left) return null;
  const words =
    amount !== null && amount > left ? `must be at most ${written({ amount: left, currency })}` : amountWords(currency);
  const action = `${pathOf(request)}/refund`;
  const field = { name: 'amount', words };
  return { status: 400, action, text: `The amount ${words}.`, field, values: { amount: [typed] } };
}

async function showNew(console: Console, request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
  const { frame, site } = await siteFrameOf(request, reply, console.deps, refused);
  const destination = await payoutDestination(request.em, console.deps, site);
  const currency = 'account' in destination ? (destination.account.currency ?? 'EUR') : 'EUR';
  return sendPage(reply, newPaymentPage(frame, currency), refused?.status);
}

async function showList(
  console: Console,
  request: FastifyRequest<Named>,
  reply: FastifyReply,
  refused: Refused | null,
) {
  const { frame, site } = await siteFrameOf(request, reply, console.deps, refused);
  const isOff = !capabilitiesOf(console.deps.config).payouts;
  const { status: asked, ...query } = request.query as Asked['Querystring'];
  const status = paymentStatuses.find((one) => one === asked) ?? null;
  const { items, next_cursor: cursor } = isOff
    ? { items: [], next_cursor: null }
    : await read<Listed<PaymentRead>>(console, request, 'payment.list', {
        id: site.id,
        ...filterOf(status),
        ...cursorOf(query),
      });
  const payments = await withProgress(request.em, console.deps.clock, items);
  const view = { payments, status, cursor, ...(await readiness(console, request, { frame, site, isOff })) };
  return sendPage(reply, paymentsPage(frame, view), refused?.status);
}

/** Whether the site can request payments; if not, why, and the owner's accounts that could receive them. */
async function readiness(
  console: Console,
  request: FastifyRequest,
  { frame, site, isOff }: { frame: SiteFrame; site: Site; isOff: boolean },
): Promise<{ obstacle: string | null; accounts: Account[] }> {
  if (isOff) return { obstacle: 'Payments are not enabled on this service.', accounts: [] };
  const destination = await payoutDestination(request.em, console.deps, site);
  if ('account' in destination) return { obstacle: null, accounts: [] };
  const { code, message: obstacle } = destination.refusal;
  const isToChoose = frame.site.role === 'owner' && (code === 'no_payout_account' || code === 'payout_account_gone');
  if (!isToChoose) return { obstacle, accounts: [] };
  const { items } = await readAll<Account>(console, request, 'payout.list', {});
  return { obstacle, accounts: items.filter(({ status }) => status === 'ready') };
}

/** In the minor unit. Throws `invalid_payment` for text that is no amount. */
function amountOf(typed: string | undefined, currency: string): number {
  const amount = amountFrom(typed ?? '', currency);
  if (amount !== undefined) return amount;
  const words = amountWords(currency);
  throw errors.invalid_payment(`The amount ${words}.`, { field: { name: 'amount', words } });
}

const amountWords = (currency: string) => `must be an amount in ${currency}, such as 25 or 12.50`;

function refundWords(answer: unknown, typed: string | undefined): string {
  const { status, currency } = answer as PaymentRead;
  const sum = written({ amount: amountFrom(typed ?? '', currency) ?? 0, currency });
  return status === 'refunded'
    ? `${sum} is refunded. The payer gets an e-mail, if the payment provider has their address.`
    : `${sum} is being refunded. This takes a few seconds. Then the payer gets an e-mail, if the payment provider has their address.`;
}
