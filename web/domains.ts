/** The part of the owner's page that says what to set for their domains, as a registrar's form asks for it. */
import { type Html, html } from './html.ts';

export type DomainShown = {
  name: string;
  /** What is to be set in the DNS (`records`), or at the registrar (`servers`). */
  mode: 'nameservers' | 'cname';
  /** `host` as forms ask for it: `@`, or the part before the registered name. */
  setup: { type: string; host: string; value: string; found: boolean; seen: string[] }[];
  problems: string[];
  state: string;
  site: string | null;
};

export function domainList(domains: DomainShown[]): Html {
  return html`<section>
<h2>Domains</h2>
<ul class="rows domains">${domains.map(
    (domain) => html`<li>
<div><strong>${domain.name}</strong><small>${domain.state}${domain.site ? ` · shows ${domain.site}` : ''}</small>
${domain.problems.map((problem) => html`<p class="fault">${problem}</p>`)}
${domain.setup.every(({ found }) => found) ? null : setupOf(domain)}</div>
</li>`,
  )}</ul>
</section>`;
}

function setupOf({ mode, setup }: DomainShown): Html {
  if (mode === 'nameservers') {
    return html`<p class="hint">Where you bought the domain, find “name servers”, and put these two in place of those there are:</p>
<ol class="set">${setup.map(({ value, found }) => html`<li><code>${value}</code> ${mark(found)}</li>`)}</ol>`;
  }
  return html`<p class="hint">Where the domain has its DNS, set these records. Copy them as they are:</p>
<ol class="set">${setup.map(
    ({ type, host, value, found, seen }) => html`<li><strong>${type}</strong> ${mark(found)}
<dl><dt>Name</dt><dd><code>${host}</code></dd><dt>Value</dt><dd><code>${value}</code></dd>
${!found && seen.length > 0 && type !== 'TXT' ? html`<dt>Now there</dt><dd>${seen.join(', ')}</dd>` : null}</dl></li>`,
  )}</ol>`;
}

const mark = (found: boolean): Html =>
  found ? html`<small class="good">✓ found</small>` : html`<small>not found yet</small>`;
