/** The booking widget: at an address that stays, asked for anew each time, and at one that its bytes make, kept for ever. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bookingWidget, bookingWidgetHash } from '../../web/booking-widget.ts';
import type { Api } from '../api.ts';

const etag = `"${bookingWidgetHash}"`;

export function widgetRoutes(app: Api): void {
  const options = (operation: string) => ({ config: { operation }, schema: { hide: true } });
  app.get('/b/widget.js', options('widget.read'), (request, reply) => send(request, reply, 'no-cache'));
  app.get(`/b/widget-${bookingWidgetHash}.js`, options('widget.read_for_ever'), (request, reply) =>
    send(request, reply, 'public, max-age=31536000, immutable'),
  );
}

/** Any page may run it: what it then asks for is answered to the site's own alone. */
function send(request: FastifyRequest, reply: FastifyReply, cacheControl: string): FastifyReply {
  reply.headers({
    etag,
    'cache-control': cacheControl,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type('text/javascript; charset=utf-8').send(bookingWidget);
}
