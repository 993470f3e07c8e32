/** The page behind an e-mailed link about a change of address. It acts only on the code of the e-mail. */
import { heading } from '#web/heading.ts';
import { type Html, html } from '#web/html.ts';
import { askerName } from '#web/mails/address-change.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { exact, relative } from '#web/times.ts';
import { codeField, type Form, fault } from './form.ts';

export type AddressPage = {
  form: Form;
  now: Date;
  side: 'old' | 'new' | 'undo';
  /** What can be done; at least one. */
  acts: readonly ('confirm' | 'stop' | 'undo')[];
  accountName: string;
  oldAddress: string;
  newAddress: string;
  /** The name of the token that asked; null where a person did. */
  askedBy: string | null;
  expiresAt: Date;
  fault?: string | undefined;
};

export function addressPage(page: AddressPage): WrittenPage {
  const { title, lead, hint } = wordsFor(page);
  const { form, acts, accountName, oldAddress, newAddress, askedBy, expiresAt, now } = page;
  const main = html`${heading(title)}
<p class="lead">${lead}</p>
${fault(page.fault)}
<div class="panel">
<dl class="facts">
<dt>Account</dt><dd>${accountName}</dd>
<dt>Old address</dt><dd>${oldAddress}</dd>
<dt>New address</dt><dd>${newAddress}</dd>
<dt>Asked by</dt><dd>${askerName(askedBy)}</dd>
<dt>Expires</dt><dd>${relative(expiresAt, now)}, on ${exact(expiresAt)}</dd>
</dl>
${form({}, html`${codeField('Code from the e-mail (8 letters)')}${acts.map((act) => button(act, page.side))}`)}
<p class="hint">${hint}</p>
</div>`;
  return writePage({ title: `${title} – Frontage`, main, layout: 'card', form: true });
}

function button(act: AddressPage['acts'][number], side: AddressPage['side']): Html {
  if (act === 'stop') return html`<button class="quiet" name="answer" value="stop">Stop the change</button>`;
  if (act === 'undo') return html`<button name="answer" value="undo">Undo the change</button>`;
  return html`<button name="answer" value="confirm">${side === 'new' ? 'Use this address' : 'Confirm the change'}</button>`;
}

function wordsFor({ side, acts, newAddress }: AddressPage): { title: string; lead: string; hint: string } {
  if (side === 'undo') {
    return {
      title: 'Undo the change of your e-mail address?',
      lead: 'Your account gets its old address back. Every agent and app loses its access, and every browser is signed out.',
      hint: 'Is the new address yours? Close this page; nothing will change.',
    };
  }
  if (side === 'new') {
    return {
      title: 'Is this your address?',
      lead: `The account will use ${newAddress}. Sign-in links and access requests will be sent there, and every browser will be signed out.`,
      hint: 'Don’t recognise this account? Close this page; nothing will change.',
    };
  }
  if (!acts.includes('confirm')) {
    return {
      title: 'This change waits for the new address',
      lead: 'You have confirmed it. You can still stop it.',
      hint: 'Is the new address yours? Close this page, and open the e-mail that we sent there.',
    };
  }
  return {
    title: 'Change your e-mail address?',
    lead: 'A person who reads e-mail at the new address controls your account and your websites.',
    hint: 'Is this not your own address, or did you not ask for this? Stop the change.',
  };
}
