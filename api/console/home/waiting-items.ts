/** What waits on Home: first what is broken, then what people wait for, then news. */
import type { InboxItem, InboxKind } from '#api/inbox/item.ts';
import type { WaitingItem } from '#web/console/home/waiting.ts';
import type { NamedCard } from './site-cards.ts';

const broken: readonly InboxKind[] = ['failed_build', 'refund_failed', 'blocked_site', 'agreement_ended', 'domain'];
const people: readonly InboxKind[] = [
  'open_comment',
  'new_submission',
  'new_booking',
  'payment_paid',
  'payout_offer',
  'sketch_chosen',
];

/** These have a section of their own. */
const ownSections: ReadonlySet<InboxKind> = new Set(['access_to_widen', 'invitation']);

/** `items`: newest first, as each group stays. */
export function waitingItems(items: readonly InboxItem[], sites: readonly NamedCard[]): WaitingItem[] {
  const listed = items.filter(({ kind, isAnswered }) => !ownSections.has(kind) && !isAnswered);
  const bookings = new Set(listed.flatMap(({ kind, id }) => (kind === 'new_booking' ? [id] : [])));
  const payments = new Map(listed.flatMap((item) => (item.booking ? [[item.booking.id, item] as const] : [])));
  return listed
    .filter(({ booking }) => !booking || !bookings.has(booking.id))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((item) => waitingItem(item, sites, item.kind === 'new_booking' ? payments.get(item.id) : undefined));
}

function rankOf({ kind }: InboxItem): number {
  if (broken.includes(kind)) return 0;
  return people.includes(kind) ? 1 : 2;
}

/** `payment`: of the booking, which is one item with it. */
function waitingItem(item: InboxItem, sites: readonly NamedCard[], payment: InboxItem | undefined): WaitingItem {
  const { kind, id, site, title, at, freeDomain, message = null, plain = message, address = null, photo = null } = item;
  const siteId = freeDomain ? siteOf(freeDomain, sites) : (site?.id ?? null);
  const paid = payment?.booking ? ` ${payment.booking.paid} was paid.` : '';
  const more = { address, photo, paymentId: payment?.id ?? null };
  return { kind, id, siteId, title: `${title}${paid}`, message: plain, at, ...more };
}

/** The site that a domain was probably added for: one with its name, or the newest at that time. Later sites do not change it. */
function siteOf({ name, addedAt }: NonNullable<InboxItem['freeDomain']>, sites: readonly NamedCard[]): string | null {
  const own = sites.filter(({ role, deletion }) => role === 'owner' && !deletion);
  const open = own.filter(({ archived }) => !archived);
  const choices = open.length > 0 ? open : own;
  const named = choices.find((site) => name.split('.').includes(site.name));
  return (named ?? choices.find(({ createdAt }) => createdAt <= addedAt) ?? choices.at(-1))?.id ?? null;
}
