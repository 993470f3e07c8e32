/** The pages on which an owner deletes the account, and restores it. */
import { counted } from '#rules/counted.ts';
import { deletionCodePeriod, deletionDelay } from '#rules/periods.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { day } from '#web/times.ts';
import { codeField, type Form, fault as faultLine } from './form.ts';

/** What others still wait for, and what ends with the account. */
export type AccountPending = {
  sites: number;
  sketches: number;
  payments: number;
  refunds: number;
  bookings: number;
  plans: number;
  agreements: number;
  others: number;
};

export type AccountDeletionPage = {
  form: Form;
  email: string;
  pending: AccountPending;
  /** Whether a code was just e-mailed. */
  sent: boolean;
  fault?: string | undefined;
};

export function accountDeletionPage({ form, email, pending, sent, fault }: AccountDeletionPage): WrittenPage {
  const main = html`<h1>Delete your account?</h1>
<p class="lead">All of its websites go offline at once, and every agent, app and browser loses its access. For ${deletionDelay}, you can sign in and
restore it. After that, it is deleted for good, with its websites, domains and submissions.</p>
${faultLine(fault)}
${consequences(pending)}
${pending.sites > 0 ? html`<p>To keep your websites, <a href="/account/settings#download">download them</a> first.</p>` : null}
<div class="panel">
${sent ? codeForm(form, email) : form({ action: '/account/delete' }, html`<p class="hint">We send a code to ${email}. Nothing is deleted until you type it here.</p><button class="quiet">E-mail me the code</button>`)}
</div>`;
  return cardOf('Delete your account?', main);
}

function codeForm(form: Form, email: string): Html {
  const inside = html`<p class="hint">We have sent a code to ${email}. It expires after ${deletionCodePeriod}.</p>${codeField('Code from the e-mail (8 letters)')}<button>Delete my account</button>`;
  return form({ action: '/account/delete/confirm' }, inside);
}

function consequences(pending: AccountPending): Html | null {
  const { sites, sketches, bookings, payments, refunds, plans, agreements, others } = pending;
  const lines: [number, string, string][] = [
    [sites, 'website goes offline', 'websites go offline'],
    [sketches, 'sketch is removed for good', 'sketches are removed for good'],
    [
      bookings,
      'future booking, whose visitor gets no e-mail from us',
      'future bookings, whose visitors get no e-mail from us',
    ],
    [payments, 'open payment expires', 'open payments expire'],
    [refunds, 'refund continues', 'refunds continue'],
    [plans, 'paid plan is cancelled', 'paid plans are cancelled'],
    [agreements, 'agreement about payouts ends', 'agreements about payouts end'],
    [others, 'website of somebody else that you no longer edit', 'websites of others that you no longer edit'],
  ];
  const shown = lines.filter(([count]) => count > 0);
  return shown.length === 0
    ? null
    : html`<ul class="rows">${shown.map((line) => html`<li>${counted(...line)}</li>`)}</ul>`;
}

export function accountRestorePage({ form, deleteAt }: { form: Form; deleteAt: Date }): WrittenPage {
  const main = html`<h1>Keep your account?</h1>
<p class="lead">Your account will be deleted on <strong>${day(deleteAt)}</strong>. If you restore it, its websites are archived: you or your agent can
then put them online. Agents and apps need your permission again. A plan, sketches,
agreements about payouts and what you edited for others do not come back.</p>
<div class="panel">
${form({ action: '/account/restore' }, html`<button>Restore my account</button>`)}
<p class="hint">To let it be deleted, close this page; nothing will change.</p>
${form({ action: '/signout', inline: true }, html`<button class="quiet small">Sign out</button>`)}
</div>`;
  return writePage({ title: 'Keep your account? – Frontage', main, layout: 'card', form: true });
}

function cardOf(title: string, main: Html): WrittenPage {
  const bar = html`<a href="/account">Your account</a>`;
  return writePage({ title: `${title} – Frontage`, main, layout: 'card', bar, form: true });
}
