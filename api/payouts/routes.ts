import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { payoutAgreementSchema, payoutAgreementView, whole } from '#api/payout-offers/schemas.ts';
import { reachableOffers } from '#api/payout-offers/transitions.ts';
import { idParams } from '#api/schemas.ts';
import type { EntityManager } from '#db/orm.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { openOnboarding, secretPrefix } from './onboarding.ts';
import { removePayoutAccount } from './removal.ts';
import {
  addPayoutAccount,
  loadPayoutAccount,
  refreshOwn,
  renamePayoutAccount,
  replaceKey,
  sitesPaying,
} from './rules.ts';
import {
  keyInput,
  onboardingSchema,
  payoutAccountInput,
  payoutAccountSchema,
  payoutAccountView,
  renameInput,
} from './schemas.ts';

/** Payout accounts. */
export function payoutRoutes(app: Api, deps: Deps): void {
  accountRoutes(app, deps);
  keyRoutes(app, deps);
  siteRoutes(app, deps);
}

const invalid = { secret_key: 'invalid_payout_account', rail: 'invalid_payout_account' } as const;

async function show(em: EntityManager, account: PayoutAccount) {
  return payoutAccountView(account, (await sitesPaying(em, [account.id])).get(account.id) ?? 0);
}
const replay = async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id: string) =>
  show(em, await loadPayoutAccount(em, actor, id));

function accountRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/account/payout-accounts',
    {
      config: { operation: 'payout.add', needs: 'payouts', capability: 'payouts', makes: 'pout', invalid, replay },
      schema: {
        summary: 'Add a payout account',
        description: `Send \`secret_key\`, a restricted key from the owner’s payment provider dashboard: it is validated, encrypted and never shown again. Or set
\`rail\` to "connect" to add an account that its owner connects through a link.`,
        body: payoutAccountInput,
        response: { 200: payoutAccountSchema },
      },
    },
    async (request) => {
      const { em, actor, body } = request;
      return show(em, await addPayoutAccount(em, deps, actor, { id: request.newId('pout'), ...body }));
    },
  );

  app.get(
    '/v1/account/payout-accounts',
    {
      config: { operation: 'payout.list', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'List the payout accounts',
        description:
          'Each account lists what it still needs before it can accept payments. Removed accounts stay in the list with the status `gone`.',
        querystring: pageQuery,
        response: { 200: listOf(payoutAccountSchema) },
      },
    },
    async ({ em, actor, query }) => {
      await refreshOwn(deps, actor);
      const read = newestFirst(em, PayoutAccount, { account: actor.accountId });
      const { rows, next_cursor } = await page(
        deps.config.secret,
        ['payout accounts', actor.accountId],
        query,
        read,
        byId,
      );
      const sites = await sitesPaying(em, rows.map(byId));
      return { items: rows.map((row) => payoutAccountView(row, sites.get(row.id) ?? 0)), next_cursor };
    },
  );

  app.patch(
    '/v1/account/payout-accounts/:id',
    {
      config: { operation: 'payout.rename', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'Rename a payout account',
        params: idParams,
        body: renameInput,
        response: { 200: payoutAccountSchema },
      },
    },
    async ({ em, actor, params, body }) =>
      show(em, await renamePayoutAccount(em, deps, actor, { id: params.id, name: body.name })),
  );

  app.delete(
    '/v1/account/payout-accounts/:id',
    {
      config: { operation: 'payout.remove', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'Remove a payout account',
        description:
          'Deletes the account’s key and ends its agreements with sites. Money already received stays with its owner.',
        params: idParams,
        response: { 200: payoutAccountSchema },
      },
    },
    async ({ em, actor, params }) => show(em, await removePayoutAccount(em, deps, actor, params.id)),
  );
}

function keyRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/account/payout-accounts/:id/key',
    {
      config: {
        operation: 'payout.replace_key',
        needs: 'payouts',
        capability: 'payouts',
        invalid,
        recordsOnce: true,
        replay,
      },
      schema: {
        summary: 'Replace a payout account’s key',
        description: 'Send another restricted key from the same payment provider account.',
        params: idParams,
        body: keyInput,
        response: { 200: payoutAccountSchema },
      },
    },
    async ({ em, actor, params, body }) =>
      show(em, await replaceKey(em, deps, actor, { id: params.id, key: body.secret_key })),
  );

  app.post(
    '/v1/account/payout-accounts/:id/onboarding',
    {
      config: { operation: 'payout.onboard', needs: 'payouts', capability: 'payouts', showsSecret: true },
      schema: {
        summary: 'Create a link to connect a payout account',
        description:
          'The owner opens the link in a browser; each visit redirects to a new onboarding page at the payment provider. Replaces any earlier link.',
        params: idParams,
        response: { 200: onboardingSchema },
      },
    },
    async (request) => {
      const secret = request.newSecret(secretPrefix);
      const { expiresAt } = await openOnboarding(request.em, deps, request.actor, { id: request.params.id, secret });
      return {
        url: `${deps.config.baseUrl}/connect/${secret}`,
        expires_at: expiresAt,
        next_action: `Give the link to the owner, then call ${call('payout.list')} until the account’s status is "ready".`,
      };
    },
  );
}

function siteRoutes(app: Api, { config }: Deps): void {
  app.get(
    '/v1/account/payout-accounts/:id/sites',
    {
      config: { operation: 'payout.sites', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'List the sites that use a payout account',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(payoutAgreementSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const { id } = await loadPayoutAccount(em, actor, params.id);
      const read = newestFirst(em, PayoutAgreement, {
        payoutAccount: id,
        endedAt: null,
        ...reachableOffers(actor.accountId, actor.scope),
      });
      const { rows, next_cursor } = await page(config.secret, ['payout sites', id], query, read, byId);
      const agreements = await em.populate(rows, whole.populate);
      return { items: agreements.map((agreement) => payoutAgreementView(agreement, config)), next_cursor };
    },
  );
}
