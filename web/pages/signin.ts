/** The pages of signing a browser in. */

import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { codeField, type Form, fault } from './form.ts';

type Asked = { form: Form; fault?: string; email?: string; reason?: keyof typeof leads | undefined };

const leads = {
  invitation:
    'To see your invitation, type the address that it was mailed to. There is no password: we send you a link, and the invitation waits on the page that it opens.',
  connector:
    'A program asks to work for you. Sign in first, then you see who it is and decide. There is no password: type your email address, and open the link that we send you in this browser.',
};
const usualLead = 'There is no password. Type your email address, and we send you a link that opens your account.';

/** Asks for the address; `reason` is what somebody was on the way to. */
export function signinPage({ form, fault: wrong, email, reason }: Asked): WrittenPage {
  const main = html`<h1>Sign in</h1>
<p class="lead">${reason ? leads[reason] : usualLead}</p>
${fault(wrong)}
<div class="panel">
${form(
  { action: '/signin' },
  html`<label>Email address<input type="email" name="email" required maxlength="254" autocomplete="email" value="${email ?? ''}"></label>
<button>Send me a link</button>`,
)}
</div>`;
  return writePage({ title: 'Sign in – Frontage', main, layout: 'sheet', form: true });
}

/** The same for every address. The code stands here for a link that is opened in another browser. */
export function sentPage({ email, code }: { email: string; code: string }): WrittenPage {
  const main = html`<h1>Look into your mail</h1>
<p class="lead">A message to <strong>${email}</strong> is on its way. Open its link within 15 minutes, here in this browser.</p>
<div class="panel">
<p>Opening it on another device? It will ask you for this code:</p>
<p class="code">${code}</p>
</div>
<p class="hint">Nothing there after a few minutes? Look into the folder for unwanted mail, or <a href="/signin">try again</a>.</p>`;
  return writePage({ title: 'Look into your mail – Frontage', main, layout: 'sheet' });
}

export type LinkPage = {
  form: Form;
  email: string;
  sameBrowser: boolean;
  /** Sources that signing in may lead to, beside our own pages. */
  leadsTo?: readonly string[];
  fault?: string | undefined;
};

/** What the mailed link opens: one button, and a code where another browser has asked for it. */
export function linkPage({ form, email, sameBrowser, leadsTo = [], fault: wrong }: LinkPage): WrittenPage {
  const code = html`${codeField('The code on the screen where you asked for the link')}
<p class="hint">Eight letters. You did not ask for a link? Then close this page; nothing has happened.</p>`;
  const main = html`<h1>Sign in</h1>
<p class="lead">You are about to sign in as <strong>${email}</strong>.</p>
${fault(wrong)}
<div class="panel">
${form({}, html`${sameBrowser ? null : code}<button>Sign in</button>`)}
</div>`;
  return writePage({ title: 'Sign in – Frontage', main, layout: 'sheet', form: true, leadsTo });
}
