/** Checkout sessions and their charges. */
import { amountFault, fromProvider } from '#rules/currencies.ts';
import {
  allOf,
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

const lifeSeconds = { min: 30 * 60, max: 24 * 3600, usual: 24 * 3600 };

export const sessionRoutes: Route[] = [
  { method: 'POST', path: /^\/v1\/checkout\/sessions$/, run: create },
  { method: 'GET', path: /^\/v1\/checkout\/sessions\/(\w+)$/, run: (stub, call) => current(stub, call) },
  { method: 'POST', path: /^\/v1\/checkout\/sessions\/(\w+)\/expire$/, run: expire },
  {
    method: 'GET',
    path: /^\/v1\/payment_intents\/(\w+)$/,
    run: (stub, { found, account }) => find(stub, 'payment_intent', found[0] ?? '', account),
  },
  { method: 'GET', path: /^\/v1\/payment_intents$/, run: listIntents },
];

/** Handles a mode other than `payment`; returns fields to store on the session. */
export const otherModes: Record<string, (stub: PaymentsStub, call: Call) => Record<string, unknown>> = {};
/** Called when such a session is completed. */
export const completions: Record<string, (stub: PaymentsStub, session: StoredObject) => void> = { payment: charge };

function create(stub: PaymentsStub, call: Call): StoredObject {
  const { input, account } = call;
  const now = seconds(stub);
  const ends = input.expires_at === undefined ? now + lifeSeconds.usual : Number(input.expires_at);
  // Tolerates a few seconds of a slow call.
  if (ends - now < lifeSeconds.min - 5 || ends - now > lifeSeconds.max) {
    throw new Refusal(400, '', 'The `expires_at` timestamp must be 30 minutes to 24 hours from now.');
  }
  const id = newName('cs_test');
  const mode = String(input.mode);
  return keep(stub, {
    id,
    object: 'checkout.session',
    account,
    mode,
    status: 'open',
    payment_status: 'unpaid',
    payment_intent: null,
    customer: null,
    subscription: null,
    url: `${stub.url}/pay/${id}`,
    created: now,
    expires_at: ends,
    metadata: input.metadata ?? {},
    allowed_payment_method_types: Object.values(input.allowed_payment_method_types ?? {}),
    client_reference_id: input.client_reference_id ?? null,
    success_url: input.success_url,
    cancel_url: input.cancel_url ?? null,
    ...(otherModes[mode] ?? forPayment)(stub, call),
  });
}

function forPayment(_stub: PaymentsStub, { input }: Call): Record<string, unknown> {
  const lines = Object.values((input.line_items ?? {}) as Record<string, Line>);
  for (const { price_data } of lines) requireChargeable(price_data);
  const total = lines.reduce((sum, line) => sum + Number(line.price_data.unit_amount) * Number(line.quantity ?? 1), 0);
  const { payment_intent_data } = input as { payment_intent_data?: { metadata?: object } };
  return {
    amount_total: total,
    currency: lines[0]?.price_data.currency,
    title: lines[0]?.price_data.product_data.name ?? '',
    business: lines[0]?.price_data.product_data.description ?? '',
    chargeMetadata: payment_intent_data?.metadata ?? {},
  };
}

/** Like the provider: a known currency, a minimum, whole units where it has no other, and no third decimal place. */
function requireChargeable(price: Line['price_data']): void {
  const currency = price.currency.toUpperCase();
  const fault = amountFault({ amount: fromProvider({ amount: Number(price.unit_amount), currency }), currency });
  if (fault !== undefined) throw new Refusal(400, 'amount_invalid', fault);
}

type Line = {
  quantity?: string;
  price_data: { unit_amount: string; currency: string; product_data: { name: string; description?: string } };
};

function current(stub: PaymentsStub, { found, account }: Pick<Call, 'found' | 'account'>): StoredObject {
  return currentSession(stub, find(stub, 'checkout.session', found[0] ?? '', account));
}

/** Expires sessions. */
export function currentSession(stub: PaymentsStub, session: StoredObject): StoredObject {
  if (session.status === 'open' && Number(session.expires_at) <= seconds(stub)) end(stub, session);
  return session;
}

function expire(stub: PaymentsStub, call: Call): StoredObject {
  const session = current(stub, call);
  if (session.status !== 'open') {
    throw new Refusal(
      400,
      '',
      `Only Checkout Sessions with a status in ["open"] can be expired. It is ${session.status}.`,
    );
  }
  return end(stub, session);
}

function end(stub: PaymentsStub, session: StoredObject): StoredObject {
  session.status = 'expired';
  session.url = null;
  stub.sendEvent('checkout.session.expired', session);
  return session;
}

/** The payer presses the button, after typing an e-mail address or none. False if the session has expired or the card is declined. */
export function complete(stub: PaymentsStub, session: StoredObject, email: string | null = null): boolean {
  if (currentSession(stub, session).status !== 'open' || stub.knobs.decline) return false;
  session.status = 'complete';
  session.payment_status = 'paid';
  session.customer_details = { email };
  session.url = null;
  completions[String(session.mode)]?.(stub, session);
  stub.sendEvent('checkout.session.completed', session);
  return true;
}

function charge(stub: PaymentsStub, session: StoredObject): void {
  const { account } = session;
  const now = seconds(stub);
  const paid = keep(stub, {
    id: newName('ch'),
    object: 'charge',
    account,
    amount: session.amount_total,
    amount_refunded: 0,
    refunded: false,
    created: now,
  });
  const intent = keep(stub, {
    id: newName('pi'),
    object: 'payment_intent',
    account,
    status: 'succeeded',
    amount: session.amount_total,
    currency: session.currency,
    latest_charge: paid,
    metadata: session.chargeMetadata,
    created: now,
  });
  session.payment_intent = intent.id;
}

/** Newest first, with `created[gte]`, `limit` and `starting_after`, like the provider. */
function listIntents(stub: PaymentsStub, { input, account }: Call) {
  const { gte } = (input.created ?? {}) as { gte?: string };
  const all = allOf(stub, 'payment_intent', account).filter(({ created }) => Number(created) >= Number(gte ?? 0));
  const from = input.starting_after === undefined ? 0 : all.findIndex(({ id }) => id === input.starting_after) + 1;
  const limit = Number(input.limit ?? 10);
  const data = all.slice(from, from + limit);
  return { object: 'list' as const, url: '/v1/payment_intents', has_more: from + limit < all.length, data };
}
