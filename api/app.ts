/** All routes of the API, in scopes with their authentication and limits. `pages.ts` and `resources.ts` list the longest. */
import { gitRoutes } from '#git/http.ts';
import type { Deps } from '#runtime/deps.ts';
import type { SkillTree } from '#skill/tree.ts';
import type { Api } from './api.ts';
import { authRoutes } from './auth/routes.ts';
import {
  bookingCreationRoutes,
  challengeRoutes,
  offeringRoutes,
  preflightRoutes,
  visitorsOf,
  visitSite,
} from './bookings/visitor-routes.ts';
import { widgetRoutes } from './bookings/widget-routes.ts';
import { calendarFileRoutes } from './calendar-feeds/routes.ts';
import { documentationRoutes } from './docs/routes.ts';
import { visitorFormRoutes } from './forms/visitor-routes.ts';
import { answerErrors } from './front/error-handlers.ts';
import { siteFiles } from './front/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { billingHooks } from './hooks/billing.ts';
import { paymentHooks } from './hooks/payments.ts';
import { createHttpServer } from './http-server.ts';
import { mcpErrorHandler, mcpRoutes } from './mcp/routes.ts';
import { clientPreflights, metadataRoutes, registrationRoutes, tokenEndpoints } from './oauth/routes.ts';
import { renderNextSteps } from './operations/next-steps.ts';
import { collectOperations, type Operations } from './operations/operations.ts';
import { ownersPages, publicPages } from './pages.ts';
import { thumbRoutes } from './photos/routes.ts';
import { requireToken, useEntityManager } from './plugins/bearer.ts';
import { serveBrowsers } from './plugins/browser.ts';
import { requireCapabilities } from './plugins/capability.ts';
import { limitChangingCalls } from './plugins/changing-calls.ts';
import { setHeaders } from './plugins/headers.ts';
import { decorateReservedIds, idempotency } from './plugins/idempotency.ts';
import { readJson } from './plugins/json.ts';
import { describeApi } from './plugins/openapi.ts';
import { preferWaiting } from './plugins/prefer.ts';
import { limitClients, limitTokens, shareLimits } from './plugins/rate-limit.ts';
import { takeRawBodies } from './plugins/raw-body.ts';
import { requestContext } from './plugins/request-context.ts';
import { logRequests } from './plugins/request-log.ts';
import { routeDefaults } from './plugins/route-defaults.ts';
import { requireScopes } from './plugins/scope.ts';
import { requireSession } from './plugins/session.ts';
import { limitBodyTime } from './plugins/sockets.ts';
import { publisherOfPushes } from './publishing/pushes.ts';
import { resourceRoutes } from './resources.ts';
import { overlayRoutes, requireReview } from './review-links/overlay.ts';
import { reviewPages } from './review-links/pages.ts';
import { sketchChoiceRoutes } from './sketches/choice-routes.ts';
import { skillPages } from './skill/routes.ts';
import { skillOf } from './skill/tree.ts';
import { uploadPageRoutes } from './upload-links/page-routes.ts';

/** Creates the API server, which does not listen yet. */
export async function buildApp(deps: Deps): Promise<Api> {
  const app = createHttpServer(deps);
  const skill = await skillOf(deps.config);
  requestContext(app, deps.config);
  setHeaders(app, deps);
  logRequests(app);
  answerErrors(app);
  renderNextSteps(app);
  await shareLimits(app, deps);
  await describeApi(app, deps.config);
  const operations = collectOperations(app);

  await otherRoutes(app, deps, operations);
  await app.register((scope: Api) => jsonRoutes(scope, deps, { skill, operations }));

  await app.ready();
  return app;
}

/** What takes other bodies than JSON: git, pages, forms, OAuth clients and payment providers. */
async function otherRoutes(app: Api, deps: Deps, operations: Operations): Promise<void> {
  await app.register(async function git(scope: Api) {
    limitClients(scope, deps, 'git');
    gitRoutes(scope, deps, { publish: publisherOfPushes(deps) });
  });

  await app.register(async function browser(scope: Api) {
    await serveBrowsers(scope, deps);
    limitClients(scope, deps, 'pages');
    requireCapabilities(scope, deps);
    publicPages(scope, deps);

    await scope.register(async function signedIn(scope: Api) {
      requireSession(scope, deps);
      ownersPages({ app: scope, deps, operations });
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
}

type Described = { skill: SkillTree; operations: Operations };

/** What takes JSON bodies or none. */
async function jsonRoutes(app: Api, deps: Deps, { skill, operations }: Described): Promise<void> {
  limitBodyTime(app);
  readJson(app);
  preferWaiting(app);
  decorateReservedIds(app);

  await app.register(async function health(scope: Api) {
    routeDefaults(scope);
    healthRoutes(scope, deps);
  });

  await app.register(async function files(scope: Api) {
    siteFiles(scope, deps);
  });

  await app.register(async function pages(scope: Api) {
    limitClients(scope, deps, 'pages');
    documentationRoutes(scope, deps.config, skill);
    skillPages(scope, deps, skill);
  });

  await app.register(async function metadata(scope: Api) {
    metadataRoutes(scope, deps);
  });

  await app.register(async function registration(scope: Api) {
    registrationRoutes(scope, deps);
  });

  await app.register(async function signIn(scope: Api) {
    useEntityManager(scope, deps);
    limitClients(scope, deps, 'signIn');
    requireCapabilities(scope, deps);
    routeDefaults(scope);
    authRoutes(scope, deps);
  });

  await app.register(async function links(scope: Api) {
    limitClients(scope, deps, 'uploads');
    uploadPageRoutes(scope, deps);
  });

  await app.register(async function widgets(scope: Api) {
    limitClients(scope, deps, 'offers');
    widgetRoutes(scope);
  });

  await app.register(async function calendars(scope: Api) {
    limitClients(scope, deps, 'feeds');
    requireCapabilities(scope, deps);
    calendarFileRoutes(scope, deps);
  });

  await app.register(async function booking(scope: Api) {
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

  await app.register(async function reviews(scope: Api) {
    limitClients(scope, deps, 'reviews');
    await reviewPages(scope, deps);
    await scope.register(async function overlay(scope: Api) {
      requireReview(scope, deps);
      idempotency(scope, deps);
      overlayRoutes(scope, deps);
    });
  });

  await app.register(async function thumbs(scope: Api) {
    limitClients(scope, deps, 'thumbs');
    requireCapabilities(scope, deps);
    thumbRoutes(scope, deps);
  });

  await app.register(async function tools(scope: Api) {
    mcpErrorHandler(scope, deps);
    requireToken(scope, deps);
    limitTokens(scope, deps);
    mcpRoutes(scope, deps, skill, operations);
  });

  await app.register(async function bearer(scope: Api) {
    requireToken(scope, deps);
    limitTokens(scope, deps);
    requireCapabilities(scope, deps);
    requireScopes(scope, deps);
    idempotency(scope, deps);
    limitChangingCalls(scope, deps);
    routeDefaults(scope);

    resourceRoutes(scope, deps, skill);
  });
}
