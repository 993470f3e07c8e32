/** The bar at the bottom of every page of a draft. */
import { html } from '#web/html.ts';

/**
 * In a declarative shadow root (HTML standard), so that the styles of the site and the bar do not affect each other. It overlays the page,
 * and clicks pass through it except on its link.
 */
export function draftBar(slot: number, address: string): string {
  return html`<frontage-draft><template shadowrootmode="open"><style>
:host{all:initial!important;position:fixed!important;inset:auto 0 0!important;z-index:2147483000!important;pointer-events:none!important;display:flex!important;justify-content:center!important}
p{all:initial;pointer-events:none;box-sizing:border-box;width:100%;padding:5px 12px calc(5px + env(safe-area-inset-bottom));font:500 13px/1.4 system-ui,sans-serif;text-align:center;color:#fff7e8;background:#2b2320eb;border-top:2px solid #f2a93b}
a{all:unset;cursor:pointer;pointer-events:auto;text-decoration:underline;text-underline-offset:2px}
a:focus-visible{outline:2px solid #f2a93b;outline-offset:2px}
@media print{:host{display:none!important}}
</style><p role="note">Draft in preview ${slot}, not published. <a href="${address}">See the live site</a></p></template></frontage-draft>`
    .markup;
}
