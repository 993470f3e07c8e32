/** Billing: customers, subscriptions, and the portal where a customer manages them. */
import { completions, otherModes } from './sessions.ts';
import { type Call, find, type Kept, keep, newName, Refusal, type Route, type StandIn, seconds } from './state.ts';

const monthSeconds = 30 * 24 * 3600;

export const billingRoutes: Route[] = [
  { method: 'POST', path: /^\/v1\/customers$/, run: createCustomer },
  {
    method: 'GET',
    path: /^\/v1\/subscriptions\/(\w+)$/,
    run: (standIn, { found, account }) => current(standIn, find(standIn, 'subscription', found[0] ?? '', account)),
  },
  { method: 'DELETE', path: /^\/v1\/subscriptions\/(\w+)$/, run: cancel },
  { method: 'POST', path: /^\/v1\/billing_portal\/sessions$/, run: openPortal },
];

function createCustomer(standIn: StandIn, { input, account }: Call): Kept {
  const { name = null, email = null, metadata = {} } = input;
  const created = seconds(standIn);
  return keep(standIn, { id: newName('cus'), object: 'customer', account, name, email, metadata, created });
}

type Line = {
  price_data: { unit_amount: string; currency: string; recurring: object; product_data: { name: string } };
};

otherModes.subscription = (standIn, { input, account }) => {
  const customer = find(standIn, 'customer', String(input.customer), account);
  const [line] = Object.values((input.line_items ?? {}) as Record<string, Line>);
  if (!line) throw new Refusal(400, '', 'Missing required param: line_items.');
  const { unit_amount, currency, product_data } = line.price_data;
  const { subscription_data } = input as { subscription_data?: { metadata?: object } };
  const own = { chargeMetadata: subscription_data?.metadata ?? {}, title: product_data.name };
  return { customer: customer.id, amount_total: Number(unit_amount), currency, ...own };
};

completions.subscription = (standIn, session) => {
  const now = seconds(standIn);
  const id = newName('sub');
  const item = {
    id: newName('si'),
    object: 'subscription_item',
    current_period_start: now,
    current_period_end: now + monthSeconds,
  };
  const made = keep(standIn, {
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
  standIn.tell('customer.subscription.created', made);
};

/** Ends cancelled subscriptions when their period is over. */
function current(standIn: StandIn, kept: Kept): Kept {
  const ends = kept.cancel_at as number | null;
  if (kept.status !== 'canceled' && ends !== null && ends <= seconds(standIn)) end(standIn, kept);
  return kept;
}

function cancel(standIn: StandIn, { found, account }: Call): Kept {
  const kept = find(standIn, 'subscription', found[0] ?? '', account);
  if (kept.status === 'canceled') throw new Refusal(404, 'resource_missing', `No such subscription: '${kept.id}'`);
  return end(standIn, kept);
}

function end(standIn: StandIn, kept: Kept): Kept {
  Object.assign(kept, { status: 'canceled', canceled_at: seconds(standIn), ended_at: seconds(standIn) });
  standIn.tell('customer.subscription.deleted', kept);
  return kept;
}

function openPortal(standIn: StandIn, { input, account }: Call): Kept {
  const customer = find(standIn, 'customer', String(input.customer), account);
  const id = newName('bps');
  const url = `${standIn.url}/portal/${id}`;
  const rest = { customer: customer.id, return_url: input.return_url, created: seconds(standIn) };
  return keep(standIn, { id, object: 'billing_portal.session', account, url, ...rest });
}

/** Actions of a customer, or of the customer's bank, on a subscription. */
export const portalActs: Record<string, (standIn: StandIn, kept: Kept) => void> = {
  cancel(standIn, kept) {
    const [item] = (kept.items as { data: { current_period_end: number }[] }).data;
    Object.assign(kept, { cancel_at_period_end: true, cancel_at: item?.current_period_end ?? null });
    standIn.tell('customer.subscription.updated', kept);
  },
  resume(standIn, kept) {
    Object.assign(kept, { cancel_at_period_end: false, cancel_at: null });
    standIn.tell('customer.subscription.updated', kept);
  },
  fail(standIn, kept) {
    kept.status = 'past_due';
    standIn.tell('customer.subscription.updated', kept);
  },
  settle(standIn, kept) {
    kept.status = 'active';
    standIn.tell('customer.subscription.updated', kept);
  },
  end: (standIn, kept) => void end(standIn, kept),
};

/** The active subscriptions of a customer, newest first. */
export function subscriptionsOf(standIn: StandIn, customer: unknown): Kept[] {
  return [...standIn.objects.values()]
    .filter((kept) => kept.object === 'subscription' && kept.customer === customer)
    .map((kept) => current(standIn, kept))
    .filter(({ status }) => status !== 'canceled')
    .reverse();
}
