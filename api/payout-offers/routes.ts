import type { Person } from '#api/access.ts';
import type { Api, Authenticated } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { openOffersFor } from '#db/payouts/offer-transitions.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { attach, endAgreement, readAgreement } from './agreements.ts';
import { offerFromAccount, offerFromSite } from './creation.ts';
import {
  attachInput,
  fromAccountInput,
  fromSiteInput,
  payoutAgreementSchema,
  payoutAgreementView,
  payoutOfferSchema,
  payoutOfferView,
  type WholeOffer,
  whole,
} from './schemas.ts';
import { acceptOffer, endOffer, loadOffer, reachableOffers } from './transitions.ts';

const invalid = { payout_account_id: 'invalid_payout_account', hostname: 'invalid_payout_offer' } as const;

/** Payout offers and the agreement of a site. */
export function payoutOfferRoutes(app: Api, deps: Deps): void {
  const view = (offer: WholeOffer, person: Person) =>
    payoutOfferView(offer, { config: deps.config, now: deps.clock.now(), person });
  openingRoutes(app, deps, view);
  answeringRoutes(app, deps, view);
  agreementRoutes(app, deps);
}

type View = (offer: WholeOffer, person: Person) => ReturnType<typeof payoutOfferView>;

function openingRoutes(app: Api, deps: Deps, view: View): void {
  const replay = async ({ em, actor }: Authenticated, id: string) => view(await loadOffer(em, actor, id), actor);

  app.post(
    '/v1/sites/:id/payout-offers',
    {
      config: {
        operation: 'payout_offer.open_from_site',
        needs: 'payouts',
        ownerOnly: true,
        capability: 'payouts',
        makes: 'offer',
        invalid,
        replay,
      },
      schema: {
        summary: 'Create an offer to use another account’s payout account for a site',
        description:
          'The owner of the payout account accepts or declines the offer; no e-mail is sent. The new offer replaces an open offer ' +
          'that the owner of a payout account has made to this site.',
        params: idParams,
        body: fromSiteInput,
        response: { 200: payoutOfferSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const input = { id: request.newId('offer'), siteId: params.id, payoutAccountId: body.payout_account_id };
      return view(await offerFromSite(em, deps, actor, input), actor);
    },
  );

  app.post(
    '/v1/account/payout-accounts/:id/offers',
    {
      config: {
        operation: 'payout_offer.open_from_account',
        needs: 'payouts',
        capability: 'payouts',
        makes: 'offer',
        invalid,
        replay,
      },
      schema: {
        summary: 'Offer your payout account to a site',
        description:
          'Send any of the site’s hostnames. The site’s owner accepts or declines the offer; no e-mail is sent.',
        params: idParams,
        body: fromAccountInput,
        response: { 200: payoutOfferSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const input = { id: request.newId('offer'), payoutAccountId: params.id, hostname: body.hostname };
      return view(await offerFromAccount(em, deps, actor, input), actor);
    },
  );
}

function answeringRoutes(app: Api, deps: Deps, view: View): void {
  const { config, clock } = deps;
  const replay = async ({ em, actor }: Authenticated, id: string) => view(await loadOffer(em, actor, id), actor);

  app.get(
    '/v1/payout-offers',
    {
      config: { operation: 'payout_offer.list', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'List the payout offers made to this account',
        description: `Offers that this account created are not listed; read them by id with ${call('payout_offer.read')}.`,
        querystring: pageQuery,
        response: { 200: listOf(payoutOfferSchema) },
      },
    },
    async ({ em, actor, query }) => {
      const condition = {
        $and: [reachableOffers(actor.accountId, actor.scope), openOffersFor(actor.accountId, clock.now())],
      };
      const read = newestFirst(em, PayoutOffer, condition);
      const { rows, next_cursor } = await page(config.secret, ['payout offers', actor.accountId], query, read, byId);
      const offers = await em.populate(rows, whole.populate);
      return { items: offers.map((offer) => view(offer, actor)), next_cursor };
    },
  );

  app.get(
    '/v1/payout-offers/:id',
    {
      config: { operation: 'payout_offer.read', needs: 'payouts', capability: 'payouts' },
      schema: { summary: 'Read a payout offer', params: idParams, response: { 200: payoutOfferSchema } },
    },
    async ({ em, actor, params }) => view(await loadOffer(em, actor, params.id), actor),
  );

  app.post(
    '/v1/payout-offers/:id/accept',
    {
      config: { operation: 'payout_offer.accept', needs: 'payouts', capability: 'payouts', replay },
      schema: {
        summary: 'Accept a payout offer',
        description:
          'Only the party that did not create the offer can accept it. After that, the site’s payments go to the payout account.',
        params: idParams,
        response: { 200: payoutOfferSchema },
      },
    },
    async ({ em, actor, params: { id }, attempt }) => {
      const isResumed = attempt?.state === 'resumed';
      return view(await acceptOffer(em, deps, actor, id, { isResumed }), actor);
    },
  );

  app.delete(
    '/v1/payout-offers/:id',
    {
      config: { operation: 'payout_offer.end', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'Withdraw or decline a payout offer',
        params: idParams,
        response: { 200: payoutOfferSchema },
      },
    },
    async ({ em, actor, params }) => view(await endOffer(em, deps, actor, params.id), actor),
  );
}

function agreementRoutes(app: Api, deps: Deps): void {
  const { config } = deps;
  const response = { 200: payoutAgreementSchema };

  app.get(
    '/v1/sites/:id/payout-account',
    {
      config: { operation: 'payout_agreement.read', needs: 'read', ownerOnly: true, capability: 'payouts' },
      schema: { summary: 'Read a site’s payout account', params: idParams, response },
    },
    async ({ em, actor, params }) => payoutAgreementView(await readAgreement(em, actor, params.id), config),
  );

  app.post(
    '/v1/sites/:id/payout-account',
    {
      config: {
        operation: 'payout_agreement.attach',
        needs: 'payouts',
        ownerOnly: true,
        capability: 'payouts',
        invalid,
        recordsOnce: true,
        replay: async ({ em, actor }: Authenticated, siteId: string) =>
          payoutAgreementView(await readAgreement(em, actor, siteId), config),
      },
      schema: {
        summary: 'Attach your own payout account to a site',
        description: 'Withdraws any open payout offer for the site.',
        params: idParams,
        body: attachInput,
        response,
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      request.answeredId = params.id;
      const input = { siteId: params.id, payoutAccountId: body.payout_account_id };
      return payoutAgreementView(await attach(em, deps, actor, input), config);
    },
  );

  app.delete(
    '/v1/sites/:id/payout-account',
    {
      config: { operation: 'payout_agreement.end', needs: 'payouts', capability: 'payouts' },
      schema: {
        summary: 'Detach the payout account from a site',
        description:
          'The owner of the site or of the payout account can call this; the owner of the payout account does not need access to the site.',
        params: idParams,
        response,
      },
    },
    async ({ em, actor, params }) => payoutAgreementView(await endAgreement(em, deps, actor, params.id), config),
  );
}
