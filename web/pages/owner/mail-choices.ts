/** The page on which an owner chooses their e-mails. */
import { type MailChoice, mailChoiceNames, mailChoices } from '#rules/mail-choices.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { choiceField, type Form } from '#web/pages/form.ts';

export type MailChoicesPage = {
  form: Form;
  email: string;
  chosen: readonly MailChoice[];
  /** Whether a choice was just saved. */
  saved: boolean;
};

export function mailChoicesPage({ form, email, chosen, saved }: MailChoicesPage): WrittenPage {
  const boxes = mailChoiceNames.map((name) =>
    choiceField('checkbox', 'mail', name, mailChoices[name].says, chosen.includes(name)),
  );
  const main = html`<h1>Your e-mails</h1>
<p class="lead">They go to ${email}.</p>
${saved ? html`<p class="notice" role="status">Your choice is saved.</p>` : null}
<div class="panel">
${form({}, html`<fieldset><legend>E-mail me when:</legend>${boxes}</fieldset><button>Save</button>`)}
</div>
<p class="hint">E-mails about the security of your account are always sent: sign-in links, requests for access, an app that we disconnected,
people whom an agent invited, a new address, a domain that you may lose, a deletion, a block.</p>
<p class="hint">Messages and bookings go to the address that each website has for them. A website that accepts them shows it in its settings.</p>`;
  const bar = html`<a href="/account">Your account</a>`;
  return writePage({ title: 'Your e-mails – Frontage', main, layout: 'card', bar, form: true });
}
