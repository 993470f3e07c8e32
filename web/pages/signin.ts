/** The sign-in pages. */
import { period, signinCodeMs, signinLinkMs } from '#rules/periods.ts';
import { heading } from '#web/heading.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { relative } from '#web/times.ts';
import { digitsField, type Form, fault } from './form.ts';

type Asked = { form: Form; fault?: string; email?: string; reason?: keyof typeof leads | undefined };

const leads = {
  invitation:
    'To see your invitation, enter the e-mail address that it was sent to. You don’t need a password: we will e-mail you a link, and then you see the invitation.',
  client:
    'An app is requesting access to your websites. Please sign in first; then you can see which app it is and decide. You don’t need a password: enter your e-mail address, and we will send you a link.',
  agent:
    'Your agent asks you to allow something. Please sign in first; then you can see what it is and decide. You don’t need a password: enter your e-mail address, and we will send you a link.',
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

export type SentPage = {
  form: Form;
  email: string;
  /** Sources that signing in may redirect to, besides our own pages. */
  leadsTo: readonly string[];
  fault?: string | undefined;
};

/** In the browser that requested the link; the same for every address. It takes the code that the link's page shows. */
export function sentPage({ form, email, leadsTo, fault: wrong }: SentPage): WrittenPage {
  const main = html`${heading('Check your e-mail')}
<p class="lead">We have sent a link to <strong>${email}</strong>. Open it within ${period(signinLinkMs)}.</p>
${fault(wrong)}
<div class="panel">
<p>Did you open the link on another device, or in another browser? Choose “Show a code” there, and type the code here:</p>
${form({}, html`${digitsField('Code (6 digits)')}<button>Sign in</button>`)}
</div>
<p class="hint">No e-mail after a few minutes? Check your spam folder, or <a href="/signin">try again</a>.</p>`;
  return writePage({ title: 'Check your e-mail – Frontage', main, layout: 'card', form: true, leadsTo });
}

/** The browser that requested a link, and the network address it came from; null for links of an earlier release. */
export type Asker = { browser: string | null; address: string | null; at: Date };

export type LinkPage = {
  form: Form;
  email: string;
  asker: Asker;
  now: Date;
  /** Whether the browser that requested the link has opened it. */
  sameBrowser: boolean;
  leadsTo: readonly string[];
  fault?: string | undefined;
};

/** The page behind the mailed link: one button, and another one for a code if another browser requested the link. */
export function linkPage(page: LinkPage): WrittenPage {
  const { form, email, sameBrowser, leadsTo } = page;
  const main = html`<h1>Sign in</h1>
<p class="lead">You are about to sign in as <strong>${email}</strong>.${sameBrowser ? null : ' Another browser requested this link:'}</p>
${fault(page.fault)}
<div class="panel">
${askerFacts(page)}
${form({}, sameBrowser ? html`<button name="answer" value="here">Sign in</button>` : otherBrowser)}
</div>
<p class="hint">Is this not your browser, or did you not request a link? Close this page; nothing will change.</p>`;
  return writePage({ title: 'Sign in – Frontage', main, layout: 'card', form: true, leadsTo });
}

/** The first button is the one that a program presses, so it signs nothing in. */
const otherBrowser = html`<p>To sign in there, get a code and type it there. Or sign in here, in the browser that you are using now.</p>
<button name="answer" value="code">Show a code</button>
<button class="quiet" name="answer" value="here">Sign in here</button>`;

function askerFacts({ asker: { browser, address, at }, now, sameBrowser }: LinkPage): Html {
  return html`<dl class="facts">
<dt>Browser</dt><dd>${browser ?? 'Unknown browser'}${sameBrowser ? ' (this one)' : null}</dd>
<dt>Network address</dt><dd>${address ?? 'Unknown'}</dd>
<dt>Requested</dt><dd>${relative(at, now)}</dd>
</dl>`;
}

/** The code for the browser that requested the link. */
export function codePage({ email, code, asker }: { email: string; code: string; asker: Asker }): WrittenPage {
  const { browser, address } = asker;
  const main = html`<h1>Your code</h1>
<p class="lead">Type it into the browser that requested the link. That browser is then signed in as <strong>${email}</strong>.</p>
<div class="panel">
<p class="code">${code}</p>
<dl class="facts">
<dt>Browser</dt><dd>${browser ?? 'Unknown browser'}</dd>
<dt>Network address</dt><dd>${address ?? 'Unknown'}</dd>
</dl>
<p class="hint">The code works once, for ${period(signinCodeMs)}. Do not tell it to anybody: a person who asks you for it wants to get into your account.</p>
</div>`;
  return writePage({ title: 'Your code – Frontage', main, layout: 'card' });
}
