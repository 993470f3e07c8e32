/** The domains on the account page, with the DNS records to set as a registrar's form asks for them. */
import { type Html, html } from '#web/html.ts';

export type DomainShown = {
  name: string;
  /** `cname`: records in the DNS; `nameservers`: name servers at the registrar. */
  mode: 'nameservers' | 'cname';
  /** `host` as forms ask for it: `@`, or the labels before the registered name. */
  setup: { type: string; host: string; value: string; found: boolean; optional: boolean; seen: string[] }[];
  problems: string[];
  state: string;
  site: string | null;
};

/** What an owner must know before the name servers change. */
export const mailWarning =
  'E-mail at this domain stops unless its records are added here first. Your agent can do that before you change the name servers.';

export function domainList(domains: DomainShown[]): Html {
  return html`<section>
<h2>Domains</h2>
<ul class="rows domains">${domains.map(
    (domain) => html`<li>
<div><strong>${domain.name}</strong><small>${domain.state}${domain.site ? ` · shows ${domain.site}` : ''}</small>
${domain.problems.map((problem) => html`<p class="fault">${problem}</p>`)}
${domain.setup.every(({ found, optional }) => found || optional) ? null : setupOf(domain)}</div>
</li>`,
  )}</ul>
</section>`;
}

function setupOf({ mode, setup }: DomainShown): Html {
  if (mode === 'nameservers') {
    return html`<p class="hint">On the website where you bought the domain, look for “name servers”, and replace the existing name servers with these two:</p>
<p class="hint">${mailWarning}</p>
<ol class="set">${setup.map((one) => html`<li><code>${one.value}</code> ${mark(one)}</li>`)}</ol>`;
  }
  return html`<p class="hint">At the domain’s DNS provider, set these records exactly as shown:</p>
<ol class="set">${setup.map(
    (one) => html`<li><strong>${one.type}</strong> ${mark(one)}
<dl><dt>Name</dt><dd><code>${one.host}</code></dd><dt>Value</dt><dd><code>${one.value}</code></dd>
${!one.found && one.seen.length > 0 && one.type !== 'TXT' ? html`<dt>Current value</dt><dd>${one.seen.join(', ')}</dd>` : null}</dl></li>`,
  )}</ol>`;
}

function mark({ found, optional }: DomainShown['setup'][number]): Html {
  if (found) return html`<small class="good">✓ found</small>`;
  return optional ? html`<small>optional</small>` : html`<small>not set at your domain yet</small>`;
}
