/** The booking widget: at a fixed URL that is revalidated, and at a URL with its hash that is cached for ever. */

import type { Api } from '#api/api.ts';
import { forEver, sendFile } from '#api/plugins/page-files.ts';
import { bookingWidget } from '#web/widgets/booking-widget.ts';

export function widgetRoutes(app: Api): void {
  const options = (operation: string) => ({ config: { operation }, schema: { hide: true } });
  app.get('/b/widget.js', options('widget.read'), (request, reply) =>
    sendFile(request, reply, bookingWidget, 'no-cache'),
  );
  app.get(`/b/widget-${bookingWidget.hash}.js`, options('widget.read_for_ever'), (request, reply) =>
    sendFile(request, reply, bookingWidget, forEver),
  );
}
