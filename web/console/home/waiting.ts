/** The items of the inbox on Home: each with the button that leads to its page, and one that marks it as done. */
import type { Frame } from '#web/console/frame.ts';
import { ago, button, short } from '#web/console/parts.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Html, html } from '#web/html.ts';

export type WaitingItem = {
  /** As in the API's inbox. */
  kind: string;
  id: string;
  siteId: string | null;
  title: string;
  message: string | null;
  at: Date;
  /** Where it can be seen, outside the console. */
  address: string | null;
  /** The path of a photo in the site's source. */
  photo: string | null;
  /** Of a booking: the payment that is one item with it. */
  paymentId: string | null;
};

/** The page that deals with an item, and the words of its button. */
type Way = (item: { id: string; site: string }) => { href: string; words: string };
const ways: Partial<Record<string, Way>> = {
  open_comment: ({ id, site }) => ({ href: `${sitePath(site, 'comments')}#${id}`, words: 'Answer' }),
  new_submission: ({ id, site }) => ({ href: `${sitePath(site, 'messages')}/${id}`, words: 'Read' }),
  new_booking: ({ id, site }) => ({ href: `${sitePath(site, 'bookings')}/${id}`, words: 'See the booking' }),
  payment_paid: ({ id, site }) => ({ href: `${sitePath(site, 'payments')}/${id}`, words: 'See the payment' }),
  refund_failed: ({ id, site }) => ({ href: `${sitePath(site, 'payments')}/${id}`, words: 'Refund again' }),
  failed_build: ({ id, site }) => ({ href: `${sitePath(site)}/versions/${id}`, words: 'Read the log' }),
  domain: ({ id, site }) => ({ href: `${sitePath(site, 'domains')}/${id}`, words: 'Set it up' }),
  photos_arrived: ({ site }) => ({ href: sitePath(site), words: 'Open the site' }),
  collaborator_published: ({ id, site }) => ({ href: `${sitePath(site)}/versions/${id}`, words: 'See the version' }),
  push_published: ({ id, site }) => ({ href: `${sitePath(site)}/versions/${id}`, words: 'See the version' }),
  invitation_accepted: ({ site }) => ({ href: sitePath(site, 'people'), words: 'See people' }),
  agreement_ended: ({ site }) => ({ href: sitePath(site, 'payments'), words: 'See payments' }),
  blocked_site: ({ site }) => ({ href: sitePath(site), words: 'Open the site' }),
};

/** Of items of no site, or of one that the reader cannot open. */
type Elsewhere = (item: { address: string | null }) => ReturnType<Way> | null;
const waysElsewhere: Partial<Record<string, Elsewhere>> = {
  payout_offer: () => ({ href: '/account/payouts', words: 'Answer' }),
  agreement_ended: () => ({ href: '/account/payouts', words: 'See payout accounts' }),
  sketch_chosen: ({ address }) => (address === null ? null : { href: address, words: 'See the sketch' }),
};

const shownMax = 20;
const lettersMax = 140;

export function waitingList(items: readonly WaitingItem[], { form, now }: Frame, own: ReadonlySet<string>): Html {
  const rest = items.length - shownMax;
  return html`<section>
<h2>Waiting for you</h2>
<p class="hint">“Done” takes an item off this list. Nothing else changes.</p>
<ul class="rows waiting">${items.slice(0, shownMax).map(
    (item) => html`<li>
<div><strong>${item.title}</strong><small>${item.message ? html`${short(item.message, lettersMax)}${photoLink(item)} · ` : null}${ago(item.at.toISOString(), now)}</small></div>
<div class="actions">${wayOf(item, own)}${button(form, '/account/inbox/done', html`Done<span class="unseen">: ${item.title}</span>`, { hidden: hiddenOf(item) })}</div>
</li>`,
  )}</ul>
${rest > 0 ? html`<p class="hint">${rest} more ${rest === 1 ? 'item follows' : 'items follow'} as you deal with these.</p>` : null}
</section>`;
}

/** What “Done” sends. */
const hiddenOf = ({ kind, id, paymentId }: WaitingItem): Record<string, string> =>
  paymentId === null ? { kind, id } : { kind, id, payment: paymentId };

function photoLink({ photo, siteId }: WaitingItem): Html | null {
  if (photo === null || siteId === null) return null;
  const name = photo.split('/').at(-1) ?? '';
  return html` <a href="${sitePath(siteId)}/photos/${encodeURIComponent(name)}">Download it</a>`;
}

function wayOf({ kind, id, siteId, title, address }: WaitingItem, own: ReadonlySet<string>): Html | null {
  const here = siteId !== null && own.has(siteId) ? ways[kind]?.({ id, site: siteId }) : undefined;
  const way = here ?? waysElsewhere[kind]?.({ address });
  if (!way) return null;
  const { href, words } = way;
  return html`<a class="button small" href="${href}">${words}<span class="unseen">: ${title}</span></a>`;
}
