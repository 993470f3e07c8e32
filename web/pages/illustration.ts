/** The illustration on pages with one message. */
import { type Html, html } from '#web/html.ts';

const stripes = [0, 1, 2, 3, 4, 5, 6].map(
  (n) => html`<path class="${n % 2 ? 'pale' : 'stripe'}" d="M${18 + n * 12} 26h12v16a6 6 0 0 1-12 0z"/>`,
);
const shutter = [58, 64, 70, 76].map((y) => html`<path class="line" d="M30 ${y}h34"/>`);
const lamp = html`<path class="lamp" d="M47 52v7m-7 9a7 7 0 0 1 14 0z"/>`;

/** A shop front: lit and open, or with its shutter down. */
export function illustration(lit: boolean): Html {
  return html`<svg class="illustration" viewBox="0 0 120 104" aria-hidden="true">
<path class="wall" d="M22 40h76v52H22z"/>
<path class="${lit ? 'lit' : 'dark'}" d="M30 52h34v30H30z"/>${lit ? lamp : shutter}
<path class="door" d="M72 54h18v38H72z"/><circle class="knob" cx="76" cy="74" r="1.4"/>
<path class="roof" d="M22 18h76l4 8H18z"/>${stripes}
<path class="ground" d="M10 92h100"/>
</svg>`;
}
