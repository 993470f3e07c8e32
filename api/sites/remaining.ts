/** What remains when a site is archived, and what is lost when it is deleted, in words. Pure. */
import type { SiteContents } from '#db/sites/contents.ts';
import type { Pending } from '#db/sites/pending.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { counted } from '#rules/counted.ts';
import { deletionDelay } from '#rules/periods.ts';

const listed = (parts: readonly string[]): string => new Intl.ListFormat('en-GB').format(parts);

/** What visitors still wait for; empty if nothing. */
export function pendingText({ payments, refunds, bookings, paid_bookings: paid }: Pending): string {
  return listed([
    ...(payments > 0 ? [counted(payments, 'open payment')] : []),
    ...(refunds > 0 ? [counted(refunds, 'payment that is being refunded', 'payments that are being refunded')] : []),
    ...(bookings > 0 ? [`${counted(bookings, 'future booking')}${paid > 0 ? ` (${paid} of them paid)` : ''}`] : []),
  ]);
}

/** After a site was archived: what does not end with it, and how many bookings did. Undefined if there is nothing. */
export function stillPending(site: Site, pending: Pending, expiredHolds: number): string | undefined {
  const unpaid = `${counted(expiredHolds, 'booking that was not paid yet has', 'bookings that were not paid yet have')} expired, with the pay link: ${call('booking.list', { id: site.id, status: 'expired' })}.`;
  const parts = [...(expiredHolds > 0 ? [unpaid] : []), ...remaining(site, pending)];
  return parts.length > 0 ? parts.join(' ') : undefined;
}

function remaining({ id, archivedAt }: Site, pending: Pending): string[] {
  const text = pendingText(pending);
  if (text === '') return [];
  const bookings = `${call('booking.list', { id, status: 'confirmed', from: archivedAt?.toISOString() })} lists the bookings. Cancel each that does not take place with ${call('booking.cancel')}: it refunds what was paid, and says who tells the visitor.`;
  const payments = `${call('payment.list', { id, status: 'open' })} lists the open payments; close each with ${call('payment.expire')}.`;
  return [
    `The site still has ${text}. Visitors are not told that it is closed.`,
    ...(pending.bookings > 0 ? [bookings] : []),
    ...(pending.payments > 0 ? [payments] : []),
  ];
}

/** What a deletion takes away. */
export function lossText({ forms, submissions, comments, feeds, agreements, domains }: SiteContents): string {
  const parts = [
    'repositories',
    'versions',
    ...(forms > 0 ? [counted(forms, 'form')] : []),
    ...(submissions > 0 ? [counted(submissions, 'submission')] : []),
    ...(comments > 0 ? [counted(comments, 'comment thread')] : []),
    ...(feeds > 0 ? [counted(feeds, 'calendar feed')] : []),
    ...(agreements > 0 ? [counted(agreements, 'agreement about payouts', 'agreements about payouts')] : []),
  ];
  const [show, stay] =
    domains.length === 1
      ? ['The domain', 'shows nothing then, and stays']
      : ['The domains', 'show nothing then, and stay'];
  return [
    `its ${listed(parts)}. It can be restored for ${deletionDelay}.`,
    ...(domains.length > 0 ? [`${show} ${listed(domains)} ${stay} in the account.`] : []),
  ].join(' ');
}
