/** The booking widget as it is served: one module that contains its texts and its style. */
import { browserModule, bundled } from '#runtime/bundle.ts';
import { html } from '#web/html.ts';
import { pageFile } from '#web/page-file.ts';

const script = bundled(new URL('./booking/widget.js', import.meta.url), browserModule);

/** Built when it is loaded: a route has its hash. */
export const bookingWidget = pageFile(script(), 'script');

/** The HTML for a page of the site. The element's content is shown until the widget is ready. */
export function bookingEmbed(baseUrl: string, publicId: string): string {
  return html`<script type="module" src="${baseUrl}/b/widget.js"></script>
<frontage-booking site="${publicId}"></frontage-booking>`.markup;
}
