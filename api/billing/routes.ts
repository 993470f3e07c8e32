import type { Person } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { Account } from '#db/accounts/account.ts';
import { currentSubscription, openCheckoutOf, planGrantOf } from '#db/billing/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { openPortal, startCheckout } from './rules.ts';
import { billingSchema, billingView, checkoutInput, checkoutSchema, portalSchema } from './schemas.ts';

/** An account's plan, for responses. */
export async function readBilling(em: EntityManager, deps: Deps, { accountId }: Person) {
  const account = await em.findOneOrFail(Account, accountId, { refresh: true });
  const [paid, grant, open] = [
    await currentSubscription(em, accountId),
    await planGrantOf(em, accountId),
    await openCheckoutOf(em, accountId),
  ];
  return billingView(deps, account, { paid, grant, open });
}

/** The account's plan, and links to the provider's pages that change it. */
export function billingRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/billing',
    {
      config: { operation: 'billing.read', needs: 'any', capability: 'billing' },
      schema: {
        summary: 'Read the plan',
        description:
          'Returns the account’s plan and all available plans. Changing to a smaller plan removes nothing: existing content stays, and the new limits apply to new content.',
        response: { 200: billingSchema },
      },
    },
    async ({ em, actor }) => await readBilling(em, deps, actor),
  );

  app.post(
    '/v1/billing/checkout',
    {
      config: {
        operation: 'billing.checkout',
        needs: 'payouts',
        capability: 'billing',
        invalid: { plan: 'invalid_plan' },
      },
      schema: {
        summary: 'Buy or change a plan',
        description:
          'Returns the URL of a checkout page for the owner. The plan becomes active a few seconds after payment and replaces any paid plan, ' +
          'whose remaining time is credited. A repeated call returns the same page while it is open; a call for a different plan closes that page and ' +
          'returns a new one.',
        body: checkoutInput,
        response: { 200: checkoutSchema },
      },
    },
    async ({ actor, body }) => {
      const { url, row } = await startCheckout(deps, actor, body.plan);
      return {
        url,
        plan: row.plan,
        status: 'open' as const,
        expires_at: row.checkoutEndsAt,
        next_action: `Give the owner the url of the checkout page. After they pay, ${call('billing.read')} returns the new plan.`,
      };
    },
  );

  app.post(
    '/v1/billing/portal',
    {
      config: { operation: 'billing.portal', needs: 'payouts', capability: 'billing' },
      schema: {
        summary: 'Manage the subscription',
        description:
          'Returns the URL of a page where the owner can cancel the plan, change the card and find invoices. The page expires after a few minutes.',
        response: { 200: portalSchema },
      },
    },
    async ({ em, actor }) => ({ url: await openPortal(em, deps, actor) }),
  );
}
