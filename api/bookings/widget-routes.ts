/** The booking widget: at an address that stays, asked for anew each time, and at one that its bytes make, kept for ever. */

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
