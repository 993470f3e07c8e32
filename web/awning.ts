/** The mark of the platform: an awning. */
import { type Html, html } from './html.ts';

const shapes = html`<path class="roof" d="M4 0h20l3 6H1z"/><path class="stripe" d="M1 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM11.4 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM21.8 7H27v8a2.6 2.6 0 0 1-5.2 0z"/><path class="pale" d="M6.2 7h5.2v8a2.6 2.6 0 0 1-5.2 0zM16.6 7h5.2v8a2.6 2.6 0 0 1-5.2 0z"/>`;

/** For a header bar, in the colours of its page. */
export const awning: Html = html`<svg viewBox="0 0 28 20" aria-hidden="true">${shapes}</svg>`;

/** As a file of its own, on light and dark tabs. */
const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -5 28 28"><style>.roof,.stripe{fill:#a8412a}.pale{fill:#f1d6c9}@media(prefers-color-scheme:dark){.roof,.stripe{fill:#d9765b}}</style>${shapes.markup}</svg>`;

/** The same as a URL (RFC 2397), which also works where the page's host is not ours. */
export const iconUrl = `data:image/svg+xml,${encodeURIComponent(iconSvg)}`;
