/** Checkout sessions and their charges. */
import {
  allOf,
  type Call,
  find,
  type Kept,
  keep,
  newName,
  Refusal,
  type Route,
  type StandIn,
  seconds,
} from './state.ts';

const lifeSeconds = { min: 30 * 60, max: 24 * 3600, usual: 24 * 3600 };

export const sessionRoutes: Route[] = [
  { method: 'POST', path: /^\/v1\/checkout\/sessions$/, run: create },
  { method: 'GET', path: /^\/v1\/checkout\/sessions\/(\w+)$/, run: (standIn, call) => current(standIn, call) },
  { method: 'POST', path: /^\/v1\/checkout\/sessions\/(\w+)\/expire$/, run: expire },
  {
    method: 'GET',
    path: /^\/v1\/payment_intents\/(\w+)$/,
    run: (standIn, { found, account }) => find(standIn, 'payment_intent', found[0] ?? '', account),
  },
  { method: 'GET', path: /^\/v1\/payment_intents$/, run: listIntents },
];

/** Handles a mode other than `payment`; returns fields to store on the session. */
export const otherModes: Record<string, (standIn: StandIn, call: Call) => Record<string, unknown>> = {};
/** Called when such a session is completed. */
export const completions: Record<string, (standIn: StandIn, session: Kept) => void> = { payment: charge };

function create(standIn: StandIn, call: Call): Kept {
  const { input, account } = call;
  const now = seconds(standIn);
  const ends = input.expires_at === undefined ? now + lifeSeconds.usual : Number(input.expires_at);
  // Tolerates a few seconds of a slow call.
  if (ends - now < lifeSeconds.min - 5 || ends - now > lifeSeconds.max) {
    throw new Refusal(400, '', 'The `expires_at` timestamp must be 30 minutes to 24 hours from now.');
  }
  const id = newName('cs_test');
  const mode = String(input.mode);
  return keep(standIn, {
    id,
    object: 'checkout.session',
    account,
    mode,
    status: 'open',
    payment_status: 'unpaid',
    payment_intent: null,
    customer: null,
    subscription: null,
    url: `${standIn.url}/pay/${id}`,
    created: now,
    expires_at: ends,
    metadata: input.metadata ?? {},
    allowed_payment_method_types: Object.values(input.allowed_payment_method_types ?? {}),
    client_reference_id: input.client_reference_id ?? null,
    success_url: input.success_url,
    cancel_url: input.cancel_url ?? null,
    ...(otherModes[mode] ?? forPayment)(standIn, call),
  });
}

function forPayment(_standIn: StandIn, { input }: Call): Record<string, unknown> {
  const lines = Object.values((input.line_items ?? {}) as Record<string, Line>);
  const total = lines.reduce((sum, line) => sum + Number(line.price_data.unit_amount) * Number(line.quantity ?? 1), 0);
  const { payment_intent_data } = input as { payment_intent_data?: { metadata?: object } };
  return {
    amount_total: total,
    currency: lines[0]?.price_data.currency,
    title: lines[0]?.price_data.product_data.name ?? '',
    chargeMetadata: payment_intent_data?.metadata ?? {},
  };
}
type Line = {
  quantity?: string;
  price_data: { unit_amount: string; currency: string; product_data: { name: string } };
};

function current(standIn: StandIn, { found, account }: Pick<Call, 'found' | 'account'>): Kept {
  return atThisMoment(standIn, find(standIn, 'checkout.session', found[0] ?? '', account));
}

/** Expires sessions. */
export function atThisMoment(standIn: StandIn, session: Kept): Kept {
  if (session.status === 'open' && Number(session.expires_at) <= seconds(standIn)) end(standIn, session);
  return session;
}

function expire(standIn: StandIn, call: Call): Kept {
  const session = current(standIn, call);
  if (session.status !== 'open') {
    throw new Refusal(
      400,
      '',
      `Only Checkout Sessions with a status in ["open"] can be expired. It is ${session.status}.`,
    );
  }
  return end(standIn, session);
}

function end(standIn: StandIn, session: Kept): Kept {
  session.status = 'expired';
  session.url = null;
  standIn.tell('checkout.session.expired', session);
  return session;
}

/** The payer presses the button. False if the session has expired or the card is declined. */
export function complete(standIn: StandIn, session: Kept): boolean {
  if (atThisMoment(standIn, session).status !== 'open' || standIn.knobs.decline) return false;
  session.status = 'complete';
  session.payment_status = 'paid';
  session.url = null;
  completions[String(session.mode)]?.(standIn, session);
  standIn.tell('checkout.session.completed', session);
  return true;
}

function charge(standIn: StandIn, session: Kept): void {
  const { account } = session;
  const now = seconds(standIn);
  const paid = keep(standIn, {
    id: newName('ch'),
    object: 'charge',
    account,
    amount: session.amount_total,
    amount_refunded: 0,
    refunded: false,
    created: now,
  });
  const intent = keep(standIn, {
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
function listIntents(standIn: StandIn, { input, account }: Call) {
  const { gte } = (input.created ?? {}) as { gte?: string };
  const all = allOf(standIn, 'payment_intent', account).filter(({ created }) => Number(created) >= Number(gte ?? 0));
  const from = input.starting_after === undefined ? 0 : all.findIndex(({ id }) => id === input.starting_after) + 1;
  const limit = Number(input.limit ?? 10);
  const data = all.slice(from, from + limit);
  return { object: 'list' as const, url: '/v1/payment_intents', has_more: from + limit < all.length, data };
}
