/** The sign-in pages. */
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { codeField, type Form, fault } from './form.ts';

type Asked = { form: Form; fault?: string; email?: string; reason?: keyof typeof leads | undefined };

const leads = {
  invitation:
    'To see your invitation, enter the e-mail address that it was sent to. You don’t need a password: we will e-mail you a link that opens the invitation.',
  client:
    'An app is requesting access to your websites. Please sign in first; then you can see which app it is and decide. You don’t need a password: enter your e-mail address, then use this browser to open the link that we send you.',
  agent:
    'Your agent asks you to allow something. Please sign in first; then you can see what it is and decide. You don’t need a password: enter your e-mail address, then use this browser to open the link that we send you.',
};
const usualLead =
  'You don’t need a password. Enter your e-mail address, and we will send you a link that signs you in.';

/** Asks for the address; `reason` is what the person wanted to open. */
export function signinPage({ form, fault: wrong, email, reason }: Asked): WrittenPage {
  const main = html`<h1>Sign in</h1>
<p class="lead">${reason ? leads[reason] : usualLead}</p>
${fault(wrong)}
<div class="panel">
${form(
  { action: '/signin' },
  html`<label>E-mail address<input type="email" name="email" required maxlength="254" autocomplete="email" value="${email ?? ''}"></label>
<button>Send me a link</button>`,
)}
</div>`;
  return writePage({ title: 'Sign in – Frontage', main, layout: 'card', form: true });
}

/** The same for every address. Shows the code for a link that is opened in another browser. */
export function sentPage({ email, code }: { email: string; code: string }): WrittenPage {
  const main = html`<h1>Check your e-mail</h1>
<p class="lead">We have sent a link to <strong>${email}</strong>. Open it in this browser within 15 minutes.</p>
<div class="panel">
<p>Opening it on another device? Enter this code there:</p>
<p class="code">${code}</p>
</div>
<p class="hint">No e-mail after a few minutes? Check your spam folder, or <a href="/signin">try again</a>.</p>`;
  return writePage({ title: 'Check your e-mail – Frontage', main, layout: 'card' });
}

export type LinkPage = {
  form: Form;
  email: string;
  sameBrowser: boolean;
  /** Sources that signing in may redirect to, besides our own pages. */
  leadsTo?: readonly string[];
  fault?: string | undefined;
};

/** The page behind the mailed link: one button, and a code field if another browser requested the link. */
export function linkPage({ form, email, sameBrowser, leadsTo = [], fault: wrong }: LinkPage): WrittenPage {
  const code = html`${codeField('Code shown where you requested the link (8 letters)')}
<p class="hint">Didn’t request a link? Close this page; nothing will change.</p>`;
  const main = html`<h1>Sign in</h1>
<p class="lead">You are about to sign in as <strong>${email}</strong>.</p>
${fault(wrong)}
<div class="panel">
${form({}, html`${sameBrowser ? null : code}<button>Sign in</button>`)}
</div>`;
  return writePage({ title: 'Sign in – Frontage', main, layout: 'card', form: true, leadsTo });
}
