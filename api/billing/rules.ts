/** Plans: the account's current one, the checkout for another, and the provider's portal for a subscription. */

import type { Person } from '#api/access.ts';
import { missing } from '#api/capabilities.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { closeCheckoutSession, querySubscription } from '#db/billing/provider-queries.ts';
import type { BillingSubscription } from '#db/billing/subscription.ts';
import {
  addCheckout,
  currentSubscription,
  customerOf,
  hasBought,
  openCheckoutOf,
  recordCheckoutSession,
  recordCustomer,
} from '#db/billing/transitions.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { digestOf } from '#providers/billing.ts';
import { PaymentsFault, providerError } from '#providers/payments.ts';
import { call } from '#rules/calls/calls.ts';
import { planNamed, planOf } from '#rules/plan-limits.ts';
import type { Plan } from '#rules/plans.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';

export type Checkout = { url: string; row: BillingSubscription };

const triesMax = 8;

/**
 * Creates the checkout for a plan. Only one is open at a time: the same plan returns the same checkout, another plan
 * closes it first. Throws `invalid_plan`, `plan_unavailable`, `already_subscribed`, `provider_error`.
 */
export async function startCheckout(deps: Deps, person: Person, name: string): Promise<Checkout> {
  const plan = requireSold(deps, name);
  const customer = await requireCustomer(deps, person.accountId);
  for (let tries = 0; tries < triesMax; tries++) {
    const row = await ensureCheckout(deps, person, plan);
    const url = row.plan === plan.name ? await urlOf(deps, row, customer, plan) : await close(deps, row);
    if (url) return { url, row };
  }
  throw errors.provider_error('The checkout page is being replaced.', {
    retryable: true,
    nextAction: 'Send the same request again.',
  });
}

/**
 * The portal, where the owner cancels, changes the card and finds invoices. Throws `no_billing_history`,
 * `provider_error`.
 */
export async function openPortal(em: EntityManager, deps: Deps, { accountId }: Person): Promise<string> {
  const customer = await customerOf(em, accountId);
  if (!customer || !(await hasBought(em, accountId))) {
    throw errors.no_billing_history('This account has never bought a plan, so there is no subscription to manage.', {
      nextAction: `Buy a plan with ${call('billing.checkout')}.`,
    });
  }
  return await inOurWords(() => providerOf(deps).openPortal(customer, `${deps.config.baseUrl}/account`, newId('bsub')));
}

function requireSold({ config }: Deps, name: string): Plan {
  const plan = planNamed(config.plans, name);
  const nextAction = `Call ${call('billing.read')} and choose a plan with sellable set to true.`;
  if (!plan) throw errors.invalid_plan('No plan has this name.', { nextAction });
  if (plan.sellable) return plan;
  if (plan.price.amount > 0) throw errors.plan_unavailable(`The plan ${name} cannot be bought here.`, { nextAction });
  throw errors.plan_unavailable(
    `The plan ${name} is free and cannot be bought: it applies to every account without another plan.`,
    {
      nextAction: `To return to the free plan, cancel the subscription on the page that ${call('billing.portal')} returns.`,
    },
  );
}

/** The provider's customer for the account, created at its first purchase. */
async function requireCustomer(deps: Deps, accountId: string): Promise<string> {
  const known = await customerOf(deps.em(), accountId);
  if (known) return known;
  const { id, name, email } = await deps.em().findOneOrFail(Account, accountId);
  const account = { id, name, email };
  const made = await inOurWords(() => providerOf(deps).createCustomer(account, digestOf(account)));
  return await recordCustomer(deps.em(), deps.clock, accountId, made);
}

/** The open checkout, of any plan, or a new one. */
async function ensureCheckout(deps: Deps, person: Person, plan: Plan): Promise<BillingSubscription> {
  const { accountId } = person;
  return await deps.em().transactional(async (tx) => {
    const current = await lockAccount(tx, accountId);
    const paid = await currentSubscription(tx, accountId);
    if (planOf(deps.config, current, deps.clock.now()).name === plan.name || paid?.plan === plan.name)
      throw hasIt(plan, paid !== null);
    const open = await openCheckoutOf(tx, accountId);
    if (open) return open;
    const added = addCheckout(tx, deps.clock, tx.getReference(Account, accountId), plan.name);
    recordAct(tx, deps.clock, person, 'plan.checkout_started', { subject: { id: added.id, name: plan.name } });
    return added;
  });
}

function hasIt({ name }: Plan, isPaid: boolean): AppError {
  return errors.already_subscribed(`This account already has the plan ${name}.`, {
    nextAction: isPaid
      ? `To change the payment method or undo a cancellation, call ${call('billing.portal')}.`
      : `The plan was granted. Call ${call('billing.read')} for its end date.`,
  });
}

/** The URL of the checkout; undefined if it is closed or was paid, which its row then contains. */
async function urlOf(deps: Deps, row: BillingSubscription, customer: string, plan: Plan): Promise<string | undefined> {
  const billing = providerOf(deps);
  if (row.checkoutEndsAt <= deps.clock.now()) return await close(deps, row);
  const { id, providerCheckout, checkoutEndsAt: endsAt } = row;
  const returnUrl = `${deps.config.baseUrl}/account`;
  const title = `${deps.config.baseDomain}: ${plan.name}`;
  try {
    const session = providerCheckout
      ? await billing.readSession(providerCheckout)
      : await billing.openSession({ id, customer, title, price: plan.price, endsAt, returnUrl });
    // Stored before the URL is returned, so that an unknown checkout cannot be paid.
    if (!providerCheckout && !(await recordCheckoutSession(deps.em(), id, session.id))) {
      await billing.closeSession(session.id);
      return undefined;
    }
    if (session.status === 'open' && session.url) return session.url;
    await querySubscription(deps.em(), deps, id);
    return undefined;
  } catch (error) {
    if (!(error instanceof PaymentsFault)) throw error;
    // The provider no longer accepts this checkout, as when the price has changed since.
    if (error.reason === 'refused' && !providerCheckout) return await close(deps, row);
    throw providerError(error, 'Billing');
  }
}

async function close(deps: Deps, row: BillingSubscription): Promise<undefined> {
  await inOurWords(() => closeCheckoutSession(deps.em(), deps, row));
}

function providerOf({ billing, config }: Deps) {
  if (billing) return billing;
  throw missing(config, 'billing') ?? new Error('billing is enabled but no payment provider is configured');
}

async function inOurWords<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof PaymentsFault ? providerError(error, 'Billing') : error;
  }
}
