/** The domains of a site: how to connect one step by step, and what it waits for. */
import { copyable } from '#web/copyable.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { mailWarning } from '#web/pages/domains.ts';
import { choiceField } from '#web/pages/form.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { ago, button, hiddenFields, hostOf } from './parts.ts';
import { sitePath } from './tabs.ts';

/** A domain, as the API answers it. `host`: the record's name as registrars' forms ask for it. */
export type DomainShown = {
  id: string;
  unicode: string;
  mode: 'nameservers' | 'cname';
  status: 'pending' | 'active' | 'Moved' | 'Deleted' | 'Blocked';
  ssl: { status: string };
  setup: readonly SetupShown[];
  problems: readonly string[];
  waiting_on: 'owner' | 'platform' | 'operator' | null;
  site_id: string | null;
  primary: boolean;
  checked_at: string | null;
  next_check_at: string | null;
};
type SetupShown = {
  type: string;
  host: string;
  value: string;
  found: boolean;
  optional: boolean;
  seen: readonly string[];
};

export type DomainsView = {
  /** Domains of the reader's account that show this site. */
  attached: readonly DomainShown[];
  /** Other domains of the account. `elsewhere`: the title of the site that it shows. */
  others: readonly (DomainShown & { elsewhere: string | null })[];
  modes: readonly DomainShown['mode'][];
};

/** The safe way first. */
const modeWords = {
  cname: ['I keep my DNS where it is, and add records there', 'E-mail at this domain stays as it is.'],
  nameservers: ['Let this service manage the DNS of the whole domain', mailWarning],
} as const;
const modeNames = Object.keys(modeWords) as DomainShown['mode'][];

export function domainsPage(frame: SiteFrame, { attached, others, modes }: DomainsView): WrittenPage {
  const { site } = frame;
  const main = html`<h1>Domains</h1>
<p class="lead">This site is always at <a href="${site.address}" rel="noopener noreferrer">${hostOf(site.address)}</a>. It can also have an address of your own, such as yourname.com.</p>
${attached.map((domain) => domainHtml(frame, domain))}
${others.length > 0 && site.role === 'owner' ? html`<section><h2>Domains that do not show this site</h2><ul class="rows">${others.map((domain) => otherRow(frame, domain))}</ul></section>` : null}
${modes.length > 0 && site.role === 'owner' ? addForm(frame, modes) : null}
${site.role === 'owner' ? null : html`<p class="panel empty">The owner of this site connects its domains.</p>`}`;
  return sitePage(frame, 'domains', { title: 'Domains', main, copies: true });
}

function otherRow(frame: SiteFrame, domain: DomainsView['others'][number]): Html {
  const { id, unicode, elsewhere } = domain;
  return html`<li><div><strong><a href="${sitePath(frame.site.id, 'domains')}/${id}">${unicode}</a></strong><small>${stateOf(domain)}${elsewhere === null ? null : html` · shows ${elsewhere}`}</small></div>
${attachButton(frame, domain)}</li>`;
}

/** Nothing where the API would refuse it: the domain does not point here yet, or shows another site. */
function attachButton({ form, site }: SiteFrame, { id, status, site_id: siteId }: DomainShown): Html | null {
  if (status !== 'active' || siteId !== null || site.archived) return null;
  return button(form, `${sitePath(site.id, 'domains')}/${id}/attach`, 'Show this site there', { quiet: false });
}

function addForm(frame: SiteFrame, modes: readonly DomainShown['mode'][]): Html {
  const action = `${sitePath(frame.site.id, 'domains')}/add`;
  const field = fieldsOf(frame, action);
  const inside = html`${field({ name: 'domain', label: 'Domain', required: true, max: 253, autocomplete: 'off', hint: 'A domain that you have bought, such as yourname.com or www.yourname.com.' })}
${modeChoice(frame, action, modes)}
<button>Connect the domain</button>`;
  return html`<section><h2>Connect a domain</h2><div class="panel">${frame.form({ action }, inside)}</div></section>`;
}

/** What the only way means for e-mail is said too. */
function modeChoice({ refused }: SiteFrame, action: string, modes: readonly DomainShown['mode'][]): Html {
  const [first, ...rest] = modeNames.filter((mode) => modes.includes(mode));
  if (first === undefined) return html``;
  if (rest.length === 0) return html`${hiddenFields({ mode: first })}<p class="hint">${modeWords[first][1]}</p>`;
  const chosen = (refused?.action === action ? refused.values.mode?.[0] : undefined) ?? first;
  const boxes = [first, ...rest].map((mode) => {
    const [words, mails] = modeWords[mode];
    return choiceField('radio', 'mode', mode, html`${words}<br><small>${mails}</small>`, mode === chosen);
  });
  return html`<fieldset><legend>How to connect it</legend>${boxes}</fieldset>`;
}

/** `sites`: the reader's sites that it could show. */
export type OneDomain = DomainShown & { sites: readonly { id: string; title: string }[] };

export function domainPage(frame: SiteFrame, domain: OneDomain): WrittenPage {
  const main = html`<h1>${domain.unicode}</h1>
${domain.site_id === null ? siteChoice(frame, domain) : null}
${domainHtml(frame, domain, true)}
<p><a href="${sitePath(frame.site.id, 'domains')}">All domains</a></p>`;
  return sitePage(frame, 'domains', { title: domain.unicode, main, copies: true });
}

/** A domain belongs to the account until it shows a site, so each of its sites has this page. */
function siteChoice({ site }: SiteFrame, { id, unicode, sites }: OneDomain): Html {
  const others = sites.filter((one) => one.id !== site.id);
  const links = others.map(
    ({ id: other, title }) => html`<li><a href="${sitePath(other, 'domains')}/${id}">${title}</a></li>`,
  );
  return html`${site.role === 'owner' ? html`<p class="lead">These steps connect ${unicode} to ${site.title}.</p>` : null}
${others.length > 0 ? html`<details><summary>Connect it to another site</summary><ul>${links}</ul></details>` : null}`;
}

/** With its steps as long as one is not done. */
function domainHtml(frame: SiteFrame, domain: DomainShown, isPage = false): Html {
  const { form, site, now } = frame;
  const { id, unicode, problems, checked_at: checked, next_check_at: next, site_id: siteId, primary } = domain;
  const path = `${sitePath(site.id, 'domains')}/${id}`;
  if (siteId !== null && siteId !== site.id) return elsewhereHtml(domain, siteId);
  const isDone = stepsOf(domain).every(({ done }) => done) && problems.length === 0;
  return html`<section class="panel domain">
<div class="bar"><h2>${isPage ? 'Status' : html`<a href="${path}">${unicode}</a>`}</h2><p><span class="tag">${stateOf(domain)}</span>${primary ? html` <span class="tag">Main address</span>` : null}</p></div>
${problems.map((problem) => html`<p class="fault">${problem}</p>`)}
${isDone && !isPage ? null : steps(domain)}
<p class="hint">${checked === null ? 'Not checked yet.' : html`Last checked ${ago(checked, now)}.`}${next === null ? null : html` Next check ${new Date(next) <= now ? 'in a moment' : ago(next, now)}.`}</p>
<div class="actions">${attachButton(frame, domain)}
${button(form, `${path}/check`, 'Check now', { quiet: domain.status === 'active' })}
${siteId !== null && !primary ? button(form, `${path}/attach`, 'Make it the main address', { hidden: { primary: 'yes' } }) : null}
${siteId === null ? null : html`<a class="button quiet small" href="${path}/detach">Take it off this site</a>`}
<a class="button quiet small" href="${path}/remove">Remove</a></div>
</section>`;
}

/** A domain shows one site at a time. */
function elsewhereHtml({ id, unicode }: DomainShown, siteId: string): Html {
  return html`<section class="panel domain"><p>${unicode} shows another site. Take it off that site before you show this site there.</p>
<div class="actions"><a class="button quiet small" href="${sitePath(siteId, 'domains')}/${id}">See the domain at the other site</a></div></section>`;
}

type Step = { title: string; done: boolean; inside: Html | null };

/** Verify, point, certificate, and then the site: what is done, and what to do. */
function stepsOf(domain: DomainShown): Step[] {
  const { mode, setup, status } = domain;
  const isHere = status === 'active';
  const proof = setup.filter(({ type }) => type === 'TXT');
  const rest = setup.filter(({ type }) => type !== 'TXT');
  if (mode === 'nameservers') {
    return [
      {
        title: 'Change the name servers',
        done: isHere || rest.every(({ found }) => found),
        inside: html`<p class="hint">On the website where you bought the domain, look for “name servers”, and replace the existing ones with these two. It can take a day until the change is visible everywhere.</p><p class="hint">${mailWarning}</p>${nameServers(rest)}`,
      },
      ...lastSteps(domain),
    ];
  }
  return [
    {
      title: 'Prove that the domain is yours',
      done: proof.every(({ found }) => found),
      inside: html`<p class="hint">Where you manage the domain’s DNS, add this record.</p>${records(proof)}`,
    },
    {
      title: 'Point it here',
      done: isHere && rest.every(({ found, optional }) => found || optional),
      inside: html`<p class="hint">In the same place, add ${rest.length === 1 ? 'this record' : 'these records'}, and remove others of the same name and type.</p>${records(rest)}`,
    },
    ...lastSteps(domain),
  ];
}

/** What follows once the domain points here. */
function lastSteps({ status, ssl, site_id: siteId }: DomainShown): Step[] {
  const isHere = status === 'active';
  return [
    {
      title: 'Certificate',
      done: isHere && ssl.status === 'active',
      inside: html`<p class="hint">${isHere ? 'We are getting the certificate that makes the address safe (https). This takes a few minutes.' : 'The certificate follows by itself once the domain points here.'}</p>`,
    },
    {
      title: 'Show the site there',
      done: siteId !== null,
      inside: html`<p class="hint">${isHere ? 'Press “Show this site there”.' : 'Once the domain points here, the button “Show this site there” appears below.'}</p>`,
    },
  ];
}

function steps(domain: DomainShown): Html {
  return html`<ol class="steps">${stepsOf(domain).map(
    ({ title, done, inside }) =>
      html`<li class="${done ? 'done' : 'open'}"><h3>${title} ${done ? html`<small class="good">✓ done</small>` : null}</h3>${done ? null : inside}</li>`,
  )}</ol>`;
}

const nameServers = (setup: readonly SetupShown[]): Html =>
  html`<ul class="set">${setup.map((one) => html`<li>${copyable(one.value, 'the name server')} ${mark(one)}</li>`)}</ul>`;

function records(setup: readonly SetupShown[]): Html {
  return html`<ul class="set">${setup.map(
    (one) => html`<li><strong>${one.type}</strong> ${mark(one)}
<dl><dt>Name</dt><dd>${copyable(one.host, `the name of the ${one.type} record`)}</dd><dt>Value</dt><dd>${copyable(one.value, `the value of the ${one.type} record`)}</dd>
${!one.found && one.seen.length > 0 && one.type !== 'TXT' ? html`<dt>Current value</dt><dd>${one.seen.join(', ')}</dd>` : null}</dl></li>`,
  )}</ul>`;
}

function mark({ found, optional }: SetupShown): Html {
  if (found) return html`<small class="good">✓ found</small>`;
  return html`<small>${optional ? 'optional' : 'not set at your domain yet'}</small>`;
}

function stateOf({ status, waiting_on: waiting, ssl, site_id: siteId }: DomainShown): string {
  if (status === 'Moved') return 'Points to another server';
  if (status === 'Deleted') return 'No longer points here';
  if (status === 'Blocked') return 'Blocked: contact the operator';
  if (waiting === 'owner' && (siteId !== null || status === 'pending')) return 'Action needed';
  if (status === 'pending') return waiting === 'operator' ? 'Waiting for the operator' : 'Being checked';
  if (ssl.status !== 'active') return 'Waiting for its certificate';
  return siteId === null ? 'Ready, but shows no site' : 'Connected';
}

export function detachPage(frame: SiteFrame, domain: DomainShown): WrittenPage {
  const path = `${sitePath(frame.site.id, 'domains')}/${domain.id}`;
  const asked = {
    title: `Take ${domain.unicode} off this site?`,
    text: html`The address will show no site until you choose one. Links to it will stop working. The domain stays in your account.`,
    action: `${path}/detach`,
    button: 'Take it off',
    back: path,
  };
  return siteQuestion(frame, 'domains', asked);
}

export function removalPage(frame: SiteFrame, domain: DomainShown): WrittenPage {
  const path = `${sitePath(frame.site.id, 'domains')}/${domain.id}`;
  const asked = {
    title: `Remove ${domain.unicode}?`,
    text: html`It will show no site${domain.site_id === null ? null : ' any more'}${domain.mode === 'nameservers' ? ', and its DNS records here are deleted, including those for e-mail' : null}. This does not change who owns the domain. To use it here later, you follow the steps again.`,
    action: `${path}/remove`,
    button: 'Remove the domain',
    back: path,
  };
  return siteQuestion(frame, 'domains', asked);
}
