import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { keyedLimiter } from '#api/plugins/rate-limit.ts';
import { idParams } from '#api/schemas.ts';
import { CalendarFeed } from '#db/calendar-feeds/calendar-feed.ts';
import type { Deps } from '#runtime/deps.ts';
import { createFeed, feedOf, fileOf, loadFeed, revokeFeed, secretPrefix } from './feeds.ts';
import { calendarFeedSchema, calendarFeedView, newCalendarFeedSchema, newCalendarFeedView } from './schemas.ts';

/** Calendar feeds of a site's bookings: create, list, revoke. */
export function calendarFeedRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const capability = 'bookings' as const;

  app.post(
    '/v1/sites/:id/calendar-feeds',
    {
      config: {
        operation: 'calendar_feed.create',
        needs: 'write',
        capability,
        makes: 'feed',
        showsSecret: true,
        replay: async (request: FastifyRequest, id: string) => {
          const feed = await loadFeed(request.em, request.actor, id);
          return newCalendarFeedView(feed, request.newSecret(secretPrefix), config, clock.now());
        },
      },
      schema: {
        summary: 'Create a calendar feed',
        description:
          'A secret address at which the owner’s calendar program reads the bookings, holds and blocks of the site, those of the last 30 ' +
          'days included, at most 1,000. It is shown only once, and ends with the token that created it.',
        params: idParams,
        response: { 200: newCalendarFeedSchema },
      },
    },
    async (request) => {
      const secret = request.newSecret(secretPrefix);
      const feed = await createFeed(request.em, deps, request.actor, request.params.id, {
        id: request.newId('feed'),
        secret,
      });
      return newCalendarFeedView(feed, secret, config, clock.now());
    },
  );

  app.get(
    '/v1/sites/:id/calendar-feeds',
    {
      config: { operation: 'calendar_feed.list', needs: 'read', capability },
      schema: {
        summary: 'List a site’s calendar feeds',
        description: 'Without their secret addresses.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(calendarFeedSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const read = newestFirst(em, CalendarFeed, { site: site.id });
      const { rows, next_cursor } = await page(config.secret, ['calendar-feeds', site.id], query, read, byId);
      return { items: rows.map((feed) => calendarFeedView(feed, clock.now())), next_cursor };
    },
  );

  app.delete(
    '/v1/calendar-feeds/:id',
    {
      config: { operation: 'calendar_feed.end', needs: 'write', capability },
      schema: { summary: 'Revoke a calendar feed', params: idParams, response: { 200: calendarFeedSchema } },
    },
    async ({ em, actor, params }) => calendarFeedView(await revokeFeed(em, deps, actor, params.id), clock.now()),
  );
}

/** What calendar programs read. */
export function calendarFileRoutes(app: Api, deps: Deps): void {
  const limit = keyedLimiter(app, deps, 'feed');

  app.get(
    '/calendar/:secret',
    {
      config: { operation: 'calendar_feed.read', capability: 'bookings' },
      schema: { hide: true, params: z.object({ secret: z.string().max(64) }) },
    },
    async (request, reply) => {
      const em = deps.em();
      const { feed, site } = await feedOf(em, deps, request.params.secret.replace(/\.ics$/, ''));
      await limit(feed.id, request, reply);
      const file = await fileOf(em, deps, site);
      const etag = `"${hash('sha256', file, 'base64url')}"`;
      reply.headers({ etag, 'cache-control': 'private, no-cache', 'x-robots-tag': 'noindex' });
      const known = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
      if (known?.includes(etag)) return reply.code(304).send();
      return reply.type('text/calendar; charset=utf-8').send(file);
    },
  );
}
