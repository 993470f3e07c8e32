/** Billing: customers, subscriptions, and the portal where a customer manages them. */
import { completions, otherModes } from './sessions.ts';
import {
  type Call,
  find,
  keep,
  newName,
  type PaymentsStub,
  Refusal,
  type Route,
  type StoredObject,
  seconds,
} from './state.ts';

const monthSeconds = 30 * 24 * 3600;

export const billingRoutes: Route[] = [
  { method: 'POST', path: /^\/v1\/customers$/, run: createCustomer },
  {
    method: 'GET',
    path: /^\/v1\/subscriptions\/(\w+)$/,
    run: (stub, { found, account }) => current(stub, find(stub, 'subscription', found[0] ?? '', account)),
  },
  { method: 'DELETE', path: /^\/v1\/subscriptions\/(\w+)$/, run: cancel },
  { method: 'POST', path: /^\/v1\/billing_portal\/sessions$/, run: openPortal },
];

function createCustomer(stub: PaymentsStub, { input, account }: Call): StoredObject {
  const { name = null, email = null, metadata = {} } = input;
  const created = seconds(stub);
  return keep(stub, { id: newName('cus'), object: 'customer', account, name, email, metadata, created });
}

type Line = {
  price_data: { unit_amount: string; currency: string; recurring: object; product_data: { name: string } };
};

otherModes.subscription = (stub, { input, account }) => {
  const customer = find(stub, 'customer', String(input.customer), account);
  const [line] = Object.values((input.line_items ?? {}) as Record<string, Line>);
  if (!line) throw new Refusal(400, '', 'Missing required param: line_items.');
  const { unit_amount, currency, product_data } = line.price_data;
  const { subscription_data } = input as { subscription_data?: { metadata?: object } };
  const own = { chargeMetadata: subscription_data?.metadata ?? {}, title: product_data.name };
  return { customer: customer.id, amount_total: Number(unit_amount), currency, ...own };
};

completions.subscription = (stub, session) => {
  const now = seconds(stub);
  const id = newName('sub');
  const item = {
    id: newName('si'),
    object: 'subscription_item',
    current_period_start: now,
    current_period_end: now + monthSeconds,
  };
  const made = keep(stub, {
    id,
    object: 'subscription',
    account: session.account,
    customer: session.customer,
    status: 'active',
    title: session.title,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    items: { object: 'list', data: [item], has_more: false, url: `/v1/subscription_items?subscription=${id}` },
    metadata: session.chargeMetadata,
    created: now,
  });
  session.subscription = id;
  stub.sendEvent('customer.subscription.created', made);
};

/** Ends cancelled subscriptions when their period is over. */
function current(stub: PaymentsStub, kept: StoredObject): StoredObject {
  const ends = kept.cancel_at as number | null;
  if (kept.status !== 'canceled' && ends !== null && ends <= seconds(stub)) end(stub, kept);
  return kept;
}

function cancel(stub: PaymentsStub, { found, account }: Call): StoredObject {
  const kept = find(stub, 'subscription', found[0] ?? '', account);
  if (kept.status === 'canceled') throw new Refusal(404, 'resource_missing', `No such subscription: '${kept.id}'`);
  return end(stub, kept);
}

function end(stub: PaymentsStub, kept: StoredObject): StoredObject {
  Object.assign(kept, { status: 'canceled', canceled_at: seconds(stub), ended_at: seconds(stub) });
  stub.sendEvent('customer.subscription.deleted', kept);
  return kept;
}

function openPortal(stub: PaymentsStub, { input, account }: Call): StoredObject {
  const customer = find(stub, 'customer', String(input.customer), account);
  const id = newName('bps');
  const url = `${stub.url}/portal/${id}`;
  const rest = { customer: customer.id, return_url: input.return_url, created: seconds(stub) };
  return keep(stub, { id, object: 'billing_portal.session', account, url, ...rest });
}

/** Actions of a customer, or of the customer's bank, on a subscription. */
export const portalActs: Record<string, (stub: PaymentsStub, kept: StoredObject) => void> = {
  cancel(stub, kept) {
    const [item] = (kept.items as { data: { current_period_end: number }[] }).data;
    Object.assign(kept, { cancel_at_period_end: true, cancel_at: item?.current_period_end ?? null });
    stub.sendEvent('customer.subscription.updated', kept);
  },
  resume(stub, kept) {
    Object.assign(kept, { cancel_at_period_end: false, cancel_at: null });
    stub.sendEvent('customer.subscription.updated', kept);
  },
  fail(stub, kept) {
    kept.status = 'past_due';
    stub.sendEvent('customer.subscription.updated', kept);
  },
  settle(stub, kept) {
    kept.status = 'active';
    stub.sendEvent('customer.subscription.updated', kept);
  },
  end: (stub, kept) => void end(stub, kept),
};

/** The active subscriptions of a customer, newest first. */
export function subscriptionsOf(stub: PaymentsStub, customer: unknown): StoredObject[] {
  return [...stub.objects.values()]
    .filter((kept) => kept.object === 'subscription' && kept.customer === customer)
    .map((kept) => current(stub, kept))
    .filter(({ status }) => status !== 'canceled')
    .reverse();
}
