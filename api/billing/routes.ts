import type { Person } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { Account } from '#db/accounts/account.ts';
import { openCheckoutOf, paidBy, planGrantOf } from '#db/billing/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { openPortal, startCheckout } from './rules.ts';
import { billingSchema, billingView, checkoutInput, checkoutSchema, portalSchema } from './schemas.ts';

/** What an answer says of an account's plan. */
export async function readBilling(em: EntityManager, deps: Deps, { accountId }: Person) {
  const account = await em.findOneOrFail(Account, accountId, { refresh: true });
  const [paid, grant, open] = [
    await paidBy(em, accountId),
    await planGrantOf(em, accountId),
    await openCheckoutOf(em, accountId),
  ];
  return billingView(deps, account, { paid, grant, open });
}

/** The plan of the account, and the pages on which it is changed. */
export function billingRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/billing',
    {
      config: { operation: 'billing.read', capability: 'billing' },
      schema: {
        summary: 'Read the plan',
        description:
          'Of the account, with every plan there is. A smaller plan takes nothing away: what is there stays, and what is new is held to its caps.',
        response: { 200: billingSchema },
      },
    },
    async ({ em, actor }) => await readBilling(em, deps, actor),
  );

  app.post(
    '/v1/billing/checkout',
    {
      config: { operation: 'billing.checkout', capability: 'billing', invalid: { plan: 'invalid_plan' } },
      schema: {
        summary: 'Buy a plan, or change to another',
        description:
          'Answers a page on which the owner pays; the plan is in force seconds after. It takes the place of one that is paid for, whose rest ' +
          'is credited. Called again while the page is open it answers the same page; for another plan, another page, and the first one ends.',
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
        next_action: 'Give the owner the url to pay. GET /v1/billing shows the plan once that is done.',
      };
    },
  );

  app.post(
    '/v1/billing/portal',
    {
      config: { operation: 'billing.portal', capability: 'billing' },
      schema: {
        summary: 'Manage the subscription',
        description:
          'Answers a page on which the owner cancels, changes the card and finds invoices. It is open for minutes.',
        response: { 200: portalSchema },
      },
    },
    async ({ em, actor }) => ({ url: await openPortal(em, deps, actor) }),
  );
}
