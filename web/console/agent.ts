/** One agent or token, how to connect another, and a token created by hand. */
import type { Scope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type GitPassword, gitPasswordWords } from '#web/pages/access-lists.ts';
import { connectionGuide, guideStyle } from '#web/pages/platform/connection-guide.ts';
import { type SiteChoice, scopeFields, scopeLine } from '#web/pages/scope.ts';
import { day, relative } from '#web/times.ts';
import type { TokenShown } from './agents.ts';
import { fieldsOf } from './fields.ts';
import { accountPage, accountQuestion, type Frame } from './frame.ts';
import { accountHistoryPath } from './history.ts';
import { ago, shownOnce } from './parts.ts';
import { sitePath } from './tabs.ts';

const base = '/account/agents';

/**
 * `sites`: those that it can reach, where they are not all. `givenBy`: the agent that made the token; null if a person did.
 * `acts`: what was done under its name, newest first.
 */
export type OneAgent = TokenShown & {
  sites: readonly SiteChoice[];
  givenBy: string | null;
  acts: readonly { says: string; site: string | null; at: Date }[];
};

export function agentPage(frame: Frame, token: OneAgent): WrittenPage {
  const { id, name, lastFour, createdAt, lastUsedAt, expiresAt, scope, sites, givenBy } = token;
  const { form, now } = frame;
  const field = fieldsOf(frame, `${base}/${id}/rename`);
  const main = html`<h1>${name}</h1>
<div class="panel"><dl class="facts">
<dt>Access</dt><dd>${scopeLine(scope)}</dd>
${sites.length > 0 ? html`<dt>Websites</dt><dd>${sites.map((site, at) => html`${at > 0 ? html`<br>` : null}<a href="${sitePath(site.id)}">${site.title}</a> (${site.hostname})`)}</dd>` : null}
<dt>Given by</dt><dd>${givenBy === null ? 'You' : `The agent ${givenBy}`}, on ${day(createdAt)}</dd>
<dt>Last used</dt><dd>${lastUsedAt ? relative(lastUsedAt, now) : 'never'}</dd>
${expiresAt ? html`<dt>Expires</dt><dd>${relative(expiresAt, now)}</dd>` : null}
<dt>Token</dt><dd>ends with ${lastFour}</dd>
</dl></div>
${actSection(token, now)}
<section><h2>Name</h2><div class="panel">${form({ action: `${base}/${id}/rename` }, html`${field({ name: 'name', label: 'Name', value: name, required: true, max: 100, hint: 'A name that you will recognise. The history of your sites shows it too.' })}<button class="quiet">Save the name</button>`)}</div></section>
<div class="actions"><a class="button quiet small" href="${base}/${id}/revoke">Revoke its access</a></div>`;
  return accountPage(frame, 'agents', { title: name, main });
}

function actSection({ acts }: OneAgent, now: Date): Html {
  const rows = acts.map(
    ({ says, site, at }) =>
      html`<li><div><strong>${says}</strong><small>${site === null ? null : html`${site} · `}${ago(at.toISOString(), now)}</small></div></li>`,
  );
  return html`<section><h2>What it did last</h2>
${rows.length === 0 ? html`<p class="panel empty">It has changed nothing in the last year.</p>` : html`<ul class="rows">${rows}</ul>`}
<p class="hint">Everything that was done is in <a href="${accountHistoryPath}">your account’s history</a>.</p></section>`;
}

export function revocationPage(frame: Frame, { id, name }: Pick<TokenShown, 'id' | 'name'>): WrittenPage {
  return accountQuestion(frame, 'agents', {
    title: `Revoke the access of ${name}?`,
    text: 'It loses access at once. Everything it created ends too: tokens, git passwords, upload links, review links and calendar addresses. Your sites stay as they are.',
    action: `${base}/${id}/revoke`,
    button: 'Revoke its access',
    back: base,
  });
}

export function gitPasswordRevocationPage(frame: Frame, of: GitPassword): WrittenPage {
  return accountQuestion(frame, 'agents', {
    title: 'Revoke this git password?',
    facts: html`<p>${gitPasswordWords(of, frame.now).map((words) => html`${words}<br>`)}</p>`,
    text: `Programs that use it can no longer read or change the files of ${of.hostname}. You cannot undo this, but an agent can create a new one.`,
    action: `/account/git-credentials/${of.id}/revoke`,
    button: 'Revoke it',
    back: base,
  });
}

export function calendarFeedRevocationPage(frame: Frame, of: { id: string; hostname: string }): WrittenPage {
  return accountQuestion(frame, 'agents', {
    title: 'Revoke this calendar address?',
    text: `Calendars that use it will show no new bookings of ${of.hostname}. You cannot undo this, but you can create a new address.`,
    action: `/account/calendar-feeds/${of.id}/revoke`,
    button: 'Revoke it',
    back: base,
  });
}

export function connectPage(frame: Frame, baseUrl: string): WrittenPage {
  const main = html`<h1>Connect an agent</h1>
<p class="lead">An agent builds and runs your websites for you. Choose the program that you use.</p>
${connectionGuide({ baseUrl, connects: true })}
<p class="hint">Programs that cannot sign in need a token. <a href="${base}/token">Create one by hand</a></p>`;
  return accountPage(frame, 'agents', { title: 'Connect an agent', main, copies: true, style: guideStyle });
}

/** `chosen`: what was ticked, or the usual scope. */
export function newTokenPage(
  frame: Frame,
  { sites, chosen }: { sites: readonly SiteChoice[]; chosen: Scope },
): WrittenPage {
  const action = `${base}/token`;
  const field = fieldsOf(frame, action);
  const inside = html`${field({ name: 'name', label: 'Name', required: true, max: 100, autocomplete: 'off', hint: 'The program that will use it.' })}
${scopeFields(sites, chosen)}<button>Create the token</button>`;
  const main = html`<h1>Create a token</h1>
<p class="lead">A token is a password for one program, which can then act for you.</p>
<section class="panel">${frame.form({ action }, inside)}</section>`;
  return accountPage(frame, 'agents', { title: 'Create a token', main });
}

export function madeTokenPage(frame: Frame, { name, secret }: { name: string; secret: string }): WrittenPage {
  const main: Html = html`<h1>Token for ${name}</h1>
${shownOnce('Copy it now', secret, 'It is shown only once. Enter it where the program asks for a token or an API key.')}
<p><a href="${base}">Back to your agents</a></p>`;
  return accountPage(frame, 'agents', { title: 'Your token', main, copies: true });
}
