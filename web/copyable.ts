/** Text to copy, with a button if scripts run. Pages with such text add the style and the script. */
import { readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

export const copyableStyle = readFileSync(new URL('./copyable.css', import.meta.url), 'utf8');
export const copyableScript = readFileSync(new URL('./copyable.js', import.meta.url), 'utf8');

/** `name`: what the button copies, for people who do not see where it is. */
export function copyable(text: string, name: string): Html {
  return html`<div class="copyable"><code>${text}</code><button type="button" class="quiet" aria-live="polite" aria-label="Copy ${name}">Copy</button></div>`;
}
