/** The booking widget as it is served: one module that contains its texts and its style. */
import { bundle } from '#web/bundle.ts';
import { html } from '#web/html.ts';
import { pageFile } from '#web/page-file.ts';

export const bookingWidget = pageFile(bundle(new URL('./booking/widget.js', import.meta.url), 'module'), 'script');

/** The HTML for a page of the site. The element's content is shown until the widget is ready. */
export function bookingEmbed(baseUrl: string, publicId: string): string {
  return html`<script type="module" src="${baseUrl}/b/widget.js"></script>
<frontage-booking site="${publicId}"></frontage-booking>`.markup;
}
