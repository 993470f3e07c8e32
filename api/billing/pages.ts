/** The plan on the account page, and its buttons. */
import type { FastifyRequest } from 'fastify';
import type { Person } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { querySubscription } from '#db/billing/provider-queries.ts';
import { hasBought, openCheckoutOf } from '#db/billing/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { written } from '#rules/currencies.ts';
import type { Plan } from '#rules/plans.ts';
import type { Deps } from '#runtime/deps.ts';
import { noticePage } from '#web/pages/notice.ts';
import type { PlanShown } from '#web/pages/plan.ts';
import { readBilling } from './routes.ts';
import { openPortal, startCheckout } from './rules.ts';

/** Null if billing is off. */
export async function planShown(em: EntityManager, deps: Deps, person: Person): Promise<PlanShown | null> {
  if (!deps.billing) return null;
  await askAboutOpen(em, deps, person);
  const { plan, status, ends_at, includes, plans, checkout } = await readBilling(em, deps, person);
  const choices = plans.filter(({ name, sellable }) => sellable && name !== plan);
  return {
    name: plan,
    status,
    endsAt: ends_at,
    includes,
    choices: choices.map((one) => ({
      name: one.name,
      price: priceOf(one),
      includes: one.includes,
      isBegun: checkout?.plan === one.name,
    })),
    managed: await hasBought(em, person.accountId),
  };
}

const providerTimeoutMs = 2_000;

/**
 * An owner who returns from the checkout has usually paid: queries the provider before the page is shown, for a limited
 * time.
 */
async function askAboutOpen(em: EntityManager, deps: Deps, { accountId }: Person): Promise<void> {
  const open = await openCheckoutOf(em, accountId);
  if (!open) return;
  const asked = querySubscription(deps.em(), deps, open.id).catch((err) =>
    deps.log.warn({ err }, 'the status of a checkout could not be read from the payment provider'),
  );
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([asked, new Promise((resolve) => (timer = setTimeout(resolve, providerTimeoutMs)))]);
  clearTimeout(timer);
}

const priceOf = ({ price }: Plan) => `${written(price)} a ${price.interval}`;

/** All routes require a session. The CSP forbids a form to redirect to another host, so a page links there. */
export function planPages(app: Api, deps: Deps): void {
  app.post(
    '/account/billing',
    pageOptions('billing.portal_on_page', ['email_signin', 'billing']),
    async (request, reply) => {
      const url = await openPortal(request.em, deps, request.actor);
      return sendPage(
        reply,
        continueTo(
          'Manage your plan',
          'On the next page you can cancel your plan, change your card and find your invoices.',
          url,
        ),
      );
    },
  );

  app.post(
    '/account/plan/:name',
    pageOptions('billing.checkout_on_page', ['email_signin', 'billing']),
    async (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
      const { url, row } = await startCheckout(deps, request.actor, request.params.name);
      const text = `You can pay for the plan ${row.plan} on the next page. It becomes active a few seconds after you pay.`;
      return sendPage(reply, continueTo('One more step to your new plan', text, url));
    },
  );
}

function continueTo(title: string, text: string, href: string) {
  return noticePage({ title, text, link: { href, text: 'Continue' } });
}
