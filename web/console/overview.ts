/** A site's overview. */
import { html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type SiteFrame, sitePage } from './frame.ts';

export type OverviewPage = { live: boolean };

export function overviewPage(frame: SiteFrame, { live }: OverviewPage): WrittenPage {
  const main = html`<h1>Overview</h1>
<p class="panel">${live ? 'This site is live.' : 'Nothing is published yet.'}</p>`;
  return sitePage(frame, 'overview', { title: 'Overview', main });
}
