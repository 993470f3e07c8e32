/** One payout account, and a new one. */
import { html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { readyWords } from '#web/pages/payouts.ts';
import { fieldsOf } from './fields.ts';
import { accountPage, accountQuestion, type Frame } from './frame.ts';
import { button } from './parts.ts';

/** A payout account, as the API answers it. */
export type PayoutAccountShown = {
  id: string;
  name: string;
  rail: 'own_key' | 'connect';
  key_last_four: string | null;
  status: 'ready' | 'pending' | 'gone';
  currency: string | null;
  waiting_for: readonly string[];
};
/** A site that uses it. */
export type AgreementShown = { site: { id: string; hostname: string } };

const base = '/account/payouts';

function stateOf({ status, currency, waiting_for: waiting }: PayoutAccountShown): string {
  if (status === 'ready') return readyWords(currency);
  return waiting.length > 0 ? `Waiting for: ${waiting.join('; ')}` : 'Not ready yet';
}

export function payoutAccountPage(
  frame: Frame,
  { account, sites }: { account: PayoutAccountShown; sites: readonly AgreementShown[] },
): WrittenPage {
  const { id, name, rail, key_last_four: key, status } = account;
  const { form } = frame;
  const path = `${base}/${id}`;
  const rename = fieldsOf(frame, `${path}/rename`);
  const replace = fieldsOf(frame, `${path}/key`);
  const main = html`<h1>${name}</h1>
<div class="panel"><dl class="facts"><dt>Status</dt><dd>${stateOf(account)}</dd>
${key ? html`<dt>Key</dt><dd>ends with ${key}</dd>` : null}
</dl>${rail === 'connect' && status === 'pending' ? html`<div class="actions">${button(form, `${path}/connect`, 'Connect it', { quiet: false })}</div>` : null}</div>
<section><h2>Sites</h2>${sites.length === 0 ? html`<p class="panel empty">No site uses it yet. You choose it on the Payments page of a site.</p>` : html`<ul class="rows">${sites.map(({ site }) => html`<li><div><strong>${site.hostname}</strong></div><a class="button quiet small" href="${path}/sites/${site.id}/end">Stop using it</a></li>`)}</ul>`}</section>
<section><h2>Name</h2><div class="panel">${form({ action: `${path}/rename` }, html`${rename({ name: 'name', label: 'Name', value: name, required: true, max: 100 })}<button class="quiet">Save the name</button>`)}</div></section>
${rail === 'own_key' ? html`<section><h2>Key</h2><div class="panel">${form({ action: `${path}/key` }, html`${replace({ name: 'secret_key', label: 'New restricted key of the same account', required: true, max: 500, autocomplete: 'off' })}<button class="quiet">Replace the key</button>`)}</div></section>` : null}
<div class="actions"><a class="button quiet small" href="${path}/remove">Remove this payout account</a></div>`;
  return accountPage(frame, 'payouts', { title: name, main });
}

export function payoutRemovalPage(frame: Frame, { id, name }: PayoutAccountShown): WrittenPage {
  const asked = {
    title: `Remove ${name}?`,
    text: 'We delete its key, and the sites that use it can no longer receive payments. Money that you have received stays yours. To refund earlier payments, you then use the dashboard of your payment provider.',
    action: `${base}/${id}/remove`,
    button: 'Remove it',
    back: `${base}/${id}`,
  };
  return accountQuestion(frame, 'payouts', asked);
}

export function agreementEndPage(frame: Frame, { id }: PayoutAccountShown, { site }: AgreementShown): WrittenPage {
  const asked = {
    title: `Stop payments on ${site.hostname}?`,
    text: 'The site cannot receive payments until it has another payout account. Open payment links close.',
    action: `${base}/${id}/sites/${site.id}/end`,
    button: 'Stop using it',
    back: `${base}/${id}`,
  };
  return accountQuestion(frame, 'payouts', asked);
}

/** `rails`: how this service can add one. */
export function newPayoutAccountPage(frame: Frame, rails: readonly PayoutAccountShown['rail'][]): WrittenPage {
  const [byKey, byLink] = [`${base}/new`, `${base}/connect`];
  const [keyField, linkField] = [fieldsOf(frame, byKey), fieldsOf(frame, byLink)];
  const name = { name: 'name', label: 'Name', max: 100, hint: 'A name that you will recognise, such as your company.' };
  const main = html`<h1>Add a payout account</h1>
<p class="lead">It receives what visitors pay. The money goes to you directly.</p>
${rails.includes('connect') ? html`<section class="panel"><h2>With your payment provider’s pages</h2>${frame.form({ action: byLink }, html`${linkField(name)}<button>Continue</button>`)}</section>` : null}
${rails.includes('own_key') ? html`<section class="panel"><h2>With a Stripe key</h2><p class="hint">Create a restricted key in your Stripe dashboard. We encrypt it and never show it again.</p>${frame.form({ action: byKey }, html`${keyField(name)}${keyField({ name: 'secret_key', label: 'Restricted key', required: true, max: 500, autocomplete: 'off' })}<button class="quiet">Add the account</button>`)}</section>` : null}`;
  return accountPage(frame, 'payouts', { title: 'Add a payout account', main });
}

/** The link to the provider's pages, which forms cannot redirect to. */
export function payoutConnectionPage(frame: Frame, url: string): WrittenPage {
  const main = html`<h1>One more step</h1>
<p class="lead">On the next pages your payment provider asks who you are and where your money goes.</p>
<div class="actions"><a class="button" href="${url}">Continue to the payment provider</a></div>`;
  return accountPage(frame, 'payouts', { title: 'One more step', main });
}
