/** All routes of the API, in scopes with their authentication and limits. */
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { gitRoutes } from '#git/http.ts';
import type { Deps } from '#runtime/deps.ts';
import { requestLogger } from '#runtime/log.ts';
import { addressPages } from './accounts/address-pages.ts';
import { accountDeletionPages } from './accounts/deletion-pages.ts';
import { mailChoicePages } from './accounts/mail-pages.ts';
import { ownerPages } from './accounts/pages.ts';
import { accountRoutes } from './accounts/routes.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import type { Api } from './api.ts';
import { assetRoutes } from './assets/routes.ts';
import { accessPages, signinPages } from './auth/pages.ts';
import { authRoutes } from './auth/routes.ts';
import { planPages } from './billing/pages.ts';
import { billingRoutes } from './billing/routes.ts';
import { cancellationPages } from './bookings/cancellation-pages.ts';
import { movePages } from './bookings/move-pages.ts';
import { ownBookingRoutes } from './bookings/own-routes.ts';
import { bookableRoutes, bookingRoutes } from './bookings/routes.ts';
import {
  bookingCreationRoutes,
  challengeRoutes,
  offeringRoutes,
  preflightRoutes,
  visitorsOf,
  visitSite,
} from './bookings/visitor-routes.ts';
import { widgetRoutes } from './bookings/widget-routes.ts';
import { calendarFeedPages } from './calendar-feeds/pages.ts';
import { calendarFeedRoutes, calendarFileRoutes } from './calendar-feeds/routes.ts';
import { collaboratorPages } from './collaborators/pages.ts';
import { collaboratorRoutes } from './collaborators/routes.ts';
import { commentRoutes } from './comments/routes.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import { domainRoutes } from './domains/routes.ts';
import { exportRoutes } from './exports/routes.ts';
import { feedbackRoutes } from './feedback/routes.ts';
import { formRoutes } from './forms/routes.ts';
import { submissionRoutes } from './forms/submission-routes.ts';
import { visitorFormRoutes } from './forms/visitor-routes.ts';
import { healthRoutes } from './health/routes.ts';
import { historyRoutes } from './history/routes.ts';
import { billingHooks } from './hooks/billing.ts';
import { paymentHooks } from './hooks/payments.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { invitationPages } from './invitations/pages.ts';
import { invitationRoutes } from './invitations/routes.ts';
import { mcpErrorHandler, mcpRoutes } from './mcp/routes.ts';
import { consentPages } from './oauth/pages.ts';
import { clientPreflights, metadataRoutes, registrationRoutes, tokenEndpoints } from './oauth/routes.ts';
import { collectOperations } from './operations/operations.ts';
import { outputRoutes } from './output/routes.ts';
import { payPages } from './pay/pages.ts';
import { paymentRoutes } from './payments/routes.ts';
import { payoutOfferPages } from './payout-offers/pages.ts';
import { payoutOfferRoutes } from './payout-offers/routes.ts';
import { connectPages } from './payouts/pages.ts';
import { payoutRoutes } from './payouts/routes.ts';
import { photoRoutes, thumbRoutes } from './photos/routes.ts';
import { requireToken, useEntityManager } from './plugins/bearer.ts';
import { serveBrowsers } from './plugins/browser.ts';
import { requireCapabilities } from './plugins/capability.ts';
import { limitChangingCalls } from './plugins/changing-calls.ts';
import { answerErrors, sendError } from './plugins/errors.ts';
import { setHeaders } from './plugins/headers.ts';
import { decorateReservedIds, idempotency } from './plugins/idempotency.ts';
import { bodyBytesMax, readJson } from './plugins/json.ts';
import { describeApi, serveDescription } from './plugins/openapi.ts';
import { preferWaiting } from './plugins/prefer.ts';
import { limitClients, limitTokens, shareLimits } from './plugins/rate-limit.ts';
import { takeRawBodies } from './plugins/raw-body.ts';
import { requestContext, requestIds } from './plugins/request-context.ts';
import { logRequests } from './plugins/request-log.ts';
import { routeDefaults } from './plugins/route-defaults.ts';
import { requireScopes } from './plugins/scope.ts';
import { requireSession } from './plugins/session.ts';
import { limitBodyTime, refuseBrokenRequests, timeouts } from './plugins/sockets.ts';
import { previewRoutes } from './previews/routes.ts';
import { publishingRoutes } from './publishing/routes.ts';
import { redirectRoutes } from './redirects/routes.ts';
import { overlayRoutes, requireReview } from './review-links/overlay.ts';
import { reviewPages } from './review-links/pages.ts';
import { reviewLinkRoutes } from './review-links/routes.ts';
import { wideningPages } from './scopes/pages.ts';
import { sitePages } from './sites/pages.ts';
import { siteRoutes } from './sites/routes.ts';
import { sketchChoiceRoutes } from './sketches/choice-routes.ts';
import { sketchRoutes } from './sketches/routes.ts';
import { skillPages, skillRoutes } from './skill/routes.ts';
import { skillOf } from './skill/tree.ts';
import { gitPasswordPages } from './source/pages.ts';
import { sourceRoutes } from './source/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { uploadPageRoutes } from './upload-links/page-routes.ts';
import { uploadRoutes } from './upload-links/routes.ts';

/** Creates the API server, which does not listen yet. */
export async function buildApp(deps: Deps): Promise<Api> {
  const app = newServer(deps);
  const skill = await skillOf(deps.config);
  requestContext(app, deps.config);
  setHeaders(app, deps);
  logRequests(app);
  answerErrors(app);
  await shareLimits(app, deps);
  await describeApi(app, deps.config);
  const operations = collectOperations(app);

  await app.register(async function git(scope: Api) {
    limitClients(scope, deps, 'git');
    gitRoutes(scope, deps);
  });

  await app.register(async function browser(scope: Api) {
    await serveBrowsers(scope, deps);
    limitClients(scope, deps, 'pages');
    requireCapabilities(scope, deps);
    signinPages(scope, deps);
    accessPages(scope, deps);
    addressPages(scope, deps);
    cancellationPages(scope, deps);
    movePages(scope, deps);
    payPages(scope, deps);
    connectPages(scope, deps);
    consentPages(scope, deps);

    await scope.register(async function signedIn(scope: Api) {
      requireSession(scope, deps);
      ownerPages(scope, deps);
      accountDeletionPages(scope, deps);
      mailChoicePages(scope, deps);
      wideningPages(scope, deps);
      sitePages(scope, deps);
      planPages(scope, deps);
      invitationPages(scope, deps);
      payoutOfferPages(scope, deps);
      gitPasswordPages(scope, deps);
      calendarFeedPages(scope, deps);
      collaboratorPages(scope, deps);
    });
  });

  await app.register(async function sketchChoices(scope: Api) {
    await sketchChoiceRoutes(scope, deps);
  });

  await app.register(async function forms(scope: Api) {
    await visitorFormRoutes(scope, deps);
  });

  await app.register(async function oauthClients(scope: Api) {
    limitBodyTime(scope);
    clientPreflights(scope);
    await scope.register((scope: Api) => tokenEndpoints(scope, deps));
  });

  await app.register(async function hooks(scope: Api) {
    limitBodyTime(scope);
    takeRawBodies(scope);
    paymentHooks(scope, deps);
    billingHooks(scope, deps);
  });

  await app.register(async function json(scope: Api) {
    limitBodyTime(scope);
    readJson(scope);
    preferWaiting(scope);
    decorateReservedIds(scope);

    await scope.register(async function health(scope: Api) {
      routeDefaults(scope);
      healthRoutes(scope, deps);
    });

    await scope.register(async function pages(scope: Api) {
      limitClients(scope, deps, 'pages');
      await serveDescription(scope);
      skillPages(scope, deps, skill);
    });

    await scope.register(async function metadata(scope: Api) {
      metadataRoutes(scope, deps);
    });

    await scope.register(async function registration(scope: Api) {
      registrationRoutes(scope, deps);
    });

    await scope.register(async function signIn(scope: Api) {
      useEntityManager(scope, deps);
      limitClients(scope, deps, 'signIn');
      requireCapabilities(scope, deps);
      routeDefaults(scope);
      authRoutes(scope, deps);
    });

    await scope.register(async function links(scope: Api) {
      limitClients(scope, deps, 'uploads');
      uploadPageRoutes(scope, deps);
    });

    await scope.register(async function widgets(scope: Api) {
      limitClients(scope, deps, 'offers');
      widgetRoutes(scope);
    });

    await scope.register(async function calendars(scope: Api) {
      limitClients(scope, deps, 'feeds');
      requireCapabilities(scope, deps);
      calendarFileRoutes(scope, deps);
    });

    await scope.register(async function booking(scope: Api) {
      useEntityManager(scope, deps);
      visitSite(scope, deps);
      preflightRoutes(scope);

      await scope.register(async function offers(scope: Api) {
        limitClients(scope, deps, 'offers');
        requireCapabilities(scope, deps);
        routeDefaults(scope);
        offeringRoutes(scope, deps);
      });

      await scope.register(async function challenges(scope: Api) {
        limitClients(scope, deps, 'challenges');
        requireCapabilities(scope, deps);
        routeDefaults(scope);
        challengeRoutes(scope, deps);
      });

      await scope.register(async function bookings(scope: Api) {
        limitClients(scope, deps, 'bookings');
        requireCapabilities(scope, deps);
        idempotency(scope, deps, visitorsOf);
        routeDefaults(scope);
        bookingCreationRoutes(scope, deps);
      });
    });

    await scope.register(async function reviews(scope: Api) {
      limitClients(scope, deps, 'reviews');
      await reviewPages(scope, deps);
      await scope.register(async function overlay(scope: Api) {
        requireReview(scope, deps);
        idempotency(scope, deps);
        overlayRoutes(scope, deps);
      });
    });

    await scope.register(async function thumbs(scope: Api) {
      limitClients(scope, deps, 'thumbs');
      requireCapabilities(scope, deps);
      thumbRoutes(scope, deps);
    });

    await scope.register(async function tools(scope: Api) {
      mcpErrorHandler(scope, deps);
      requireToken(scope, deps);
      limitTokens(scope, deps);
      mcpRoutes(scope, deps, skill, operations);
    });

    await scope.register(async function bearer(scope: Api) {
      requireToken(scope, deps);
      limitTokens(scope, deps);
      requireCapabilities(scope, deps);
      requireScopes(scope, deps);
      idempotency(scope, deps);
      limitChangingCalls(scope, deps);
      routeDefaults(scope);

      resourceRoutes(scope, deps, skill);
    });
  });

  await app.ready();
  return app;
}

/** The calls with a token. */
function resourceRoutes(scope: Api, deps: Deps, skill: Parameters<typeof skillRoutes>[1]): void {
  accountRoutes(scope, deps);
  inboxRoutes(scope, deps);
  tokenRoutes(scope, deps);
  templateRoutes(scope, deps);
  siteRoutes(scope, deps);
  exportRoutes(scope, deps);
  collaboratorRoutes(scope, deps);
  invitationRoutes(scope, deps);
  sourceRoutes(scope, deps);
  assetRoutes(scope, deps);
  uploadRoutes(scope, deps);
  photoRoutes(scope, deps);
  publishingRoutes(scope, deps);
  previewRoutes(scope, deps);
  deploymentRoutes(scope, deps);
  commentRoutes(scope, deps);
  reviewLinkRoutes(scope, deps);
  redirectRoutes(scope, deps);
  outputRoutes(scope, deps);
  sketchRoutes(scope, deps);
  bookableRoutes(scope, deps);
  bookingRoutes(scope, deps);
  ownBookingRoutes(scope, deps);
  calendarFeedRoutes(scope, deps);
  domainRoutes(scope, deps);
  paymentRoutes(scope, deps);
  formRoutes(scope, deps);
  submissionRoutes(scope, deps);
  analyticsRoutes(scope, deps);
  historyRoutes(scope, deps);
  payoutRoutes(scope, deps);
  payoutOfferRoutes(scope, deps);
  billingRoutes(scope, deps);
  feedbackRoutes(scope, deps);
  skillRoutes(scope, skill);
}

function newServer({ config, log }: Deps): Api {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(config),
    childLoggerFactory: (parent, bindings, options) => requestLogger(parent as Logger, bindings, options),
    bodyLimit: bodyBytesMax,
    // A path within a site is one parameter.
    routerOptions: { maxParamLength: 2048 },
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    return503OnClosing: false,
    clientErrorHandler: refuseBrokenRequests,
    // The URL could not be parsed, so the hooks of the routes have not run.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendError(error, request as unknown as FastifyRequest, reply as unknown as FastifyReply);
    },
    ...timeouts,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app as unknown as Api;
}
