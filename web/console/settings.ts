/** The account itself: its address, e-mails, domains and plan, and its deletion. */
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type DomainShown, domainList } from '#web/pages/domains.ts';
import { type PlanShown, planSection } from '#web/pages/plan.ts';
import { relative } from '#web/times.ts';
import { fieldsOf } from './fields.ts';
import { accountPage, type Frame } from './frame.ts';
import { button } from './parts.ts';
import { sitePath } from './tabs.ts';

export type SettingsPage = {
  /** Browsers in which the account is signed in, the newest first. */
  sessions: readonly { createdAt: Date; isThis: boolean }[];
  /** A change of the address that awaits confirmation. */
  pending: { email: string; waitingFor: 'old' | 'new'; expiresAt: Date } | null;
  domains: DomainShown[];
  /** Null if billing is off. */
  plan: PlanShown | null;
  /** Those of the account. */
  sites: readonly { id: string; title: string }[];
  /** The kinds of sandboxes that builds run in. */
  sandboxes: string[];
};

export function settingsPage(frame: Frame, page: SettingsPage): WrittenPage {
  const { name, email } = frame.account;
  const main = html`<div class="head"><h1>Your account</h1>
<p class="lead">${name} · ${email}</p></div>
${nameSection(frame)}
${addressSection(frame, page)}
<section><h2>E-mails</h2><p><a href="/account/mails">Choose your e-mails</a></p></section>
${page.domains.length > 0 ? domainList(page.domains) : null}
${page.plan ? planSection(page.plan, frame.form) : null}
${sessionSection(frame, page.sessions)}
${page.sites.length > 0 ? downloadSection(page.sites) : null}
<section><h2>Delete</h2><p><a href="/account/delete">Delete this account</a></p></section>
${page.sandboxes.length > 0 ? buildNote(page.sandboxes) : null}`;
  return accountPage(frame, 'settings', { title: 'Your account', main });
}

function nameSection(frame: Frame): Html {
  const action = '/account/settings/name';
  const field = fieldsOf(frame, action);
  const inside = html`${field({ name: 'name', label: 'Your name', value: frame.account.name, required: true, max: 100, autocomplete: 'name', hint: 'People whom you invite see it.' })}<button class="quiet">Save the name</button>`;
  return html`<section><h2>Name</h2><div class="panel">${frame.form({ action }, inside)}</div></section>`;
}

function downloadSection(sites: SettingsPage['sites']): Html {
  return html`<section id="download"><h2>Download your sites</h2>
<p class="hint">Each file has everything of a site: its source, pages, photos, messages and bookings. It is made for moving the site to another service with the same software.</p>
<ul class="rows">${sites.map(({ id, title }) => html`<li><div><strong>${title}</strong></div><a class="button quiet small" href="${sitePath(id, 'settings')}/export" download>Download<span class="unseen"> ${title}</span></a></li>`)}</ul></section>`;
}

function sessionSection({ form, now }: Frame, sessions: SettingsPage['sessions']): Html {
  const rows = sessions.map(
    ({ createdAt, isThis }) =>
      html`<li><div><strong>${isThis ? 'This browser' : 'Another browser'}</strong><small>Signed in ${relative(createdAt, now)}</small></div></li>`,
  );
  return html`<section id="browsers"><h2>Signed-in browsers</h2>
<ul class="rows">${rows}</ul>
${sessions.length > 1 ? html`<div class="actions">${button(form, '/account/settings/sign-out', 'Sign out everywhere else')}</div>` : null}</section>`;
}

function addressSection(frame: Frame, { pending }: SettingsPage): Html {
  const { form, now } = frame;
  const { email } = frame.account;
  const action = '/account/address';
  if (pending) {
    const from = pending.waitingFor === 'old' ? email : pending.email;
    return html`<section>
<h2>E-mail address</h2>
<div class="panel">
<p>The change from ${email} to <strong>${pending.email}</strong> is waiting for confirmation. Open the e-mail that we sent to ${from}. The request expires ${relative(pending.expiresAt, now)}.</p>
${form({ action }, html`<button class="quiet" name="answer" value="withdraw">Cancel the change</button>`)}
</div>
</section>`;
  }
  const field = fieldsOf(frame, action);
  return html`<section>
<h2>E-mail address</h2>
<div class="panel">
<p class="hint">Sign-in links and access requests go to ${email}. To change it, you confirm first from this address, and then from the new one.</p>
${form({ action }, html`${field({ name: 'email', label: 'New e-mail address', type: 'email', required: true, max: 254, autocomplete: 'email' })}<button class="quiet">Change my address</button>`)}
</div>
</section>`;
}

function buildNote(sandboxes: string[]): Html {
  const enclosing = sandboxes.filter((kind) => kind !== 'unprotected').sort();
  const protectedBy =
    enclosing.length > 0
      ? html`While your sites are built, their code is kept apart from everything else on this service (${enclosing.join(', ')}).`
      : null;
  if (enclosing.length === sandboxes.length) return html`<p class="hint">${protectedBy}</p>`;
  return html`<p class="hint">${protectedBy} <strong>This service builds ${enclosing.length > 0 ? 'some sites without that protection' : 'sites without protection from their code'}.</strong> Their code can do what the person who runs the service can do, so publish only code that you trust.</p>`;
}
