/** Bookings in words: what the pages about them share. */
import { counted } from '#rules/counted.ts';
import { written } from '#rules/currencies.ts';
import { type Html, html } from '#web/html.ts';

/** A booking or a block, as the API answers it. Times are local, with their UTC offset. */
export type BookingShown = {
  id: string;
  kind: 'booking' | 'block';
  reference: string;
  status: 'held' | 'confirmed' | 'cancelled' | 'expired';
  service: string | null;
  calendar: string;
  start: string;
  end: string;
  seats: number;
  place: string | null;
  link: string | null;
  visitor: { name: string } | null;
  created_by: string | null;
  notice: string | null;
  intake: Readonly<Record<string, string | readonly string[]>>;
  price: { amount: number; currency: string } | null;
  payment_id: string | null;
  pay_url: string | null;
  created_at: string;
  cancelled_at: string | null;
};

/** The timetable, as the API answers it. */
export type TimetableShown = {
  status: 'open' | 'ended';
  url: string;
  notify_to: string;
  notify_options: readonly string[];
  calendars: readonly { key: string; name: string; time_zone: string; capacity: number }[];
  services: readonly {
    key: string;
    name: string;
    duration_minutes: number;
    calendar_keys: readonly string[];
    seats_max: number;
    price: { amount: number; currency: string } | null;
    intake: readonly { name: string; label: string }[];
  }[];
};

export const statusWords = {
  confirmed: 'Confirmed',
  held: 'Waiting for payment',
  cancelled: 'Cancelled',
  expired: 'Not paid in time',
} as const satisfies Record<BookingShown['status'], string>;

export const isLive = ({ status }: Pick<BookingShown, 'status'>): boolean =>
  status === 'confirmed' || status === 'held';

export const serviceName = ({ services }: TimetableShown, { kind, service }: BookingShown): string =>
  kind === 'block' ? 'Blocked' : (services.find(({ key }) => key === service)?.name ?? service ?? 'Booking');

export const calendarName = ({ calendars }: TimetableShown, key: string): string =>
  calendars.find((one) => one.key === key)?.name ?? key;

export const zoneOf = ({ calendars }: TimetableShown, key: string): string | null =>
  calendars.find((one) => one.key === key)?.time_zone ?? null;

/** Who comes, in a list. */
export const whoComes = ({ kind, visitor, seats }: BookingShown): string => {
  if (kind === 'block') return '';
  return [visitor?.name ?? 'No name', ...(seats > 1 ? [counted(seats, 'seat')] : [])].join(' · ');
};

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' });
const withYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

/** "Tuesday 5 December" of `YYYY-MM-DD`, or of a local time. */
const dayWords = (local: string): string => weekday.format(new Date(`${local.slice(0, 10)}T00:00:00Z`));
/** "Tuesday 5 December 2026". */
export const dateWords = (local: string): string => withYear.format(new Date(`${local.slice(0, 10)}T00:00:00Z`));
const brief = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
const range = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "Tue, 5 Dec". */
export const briefDay = (date: string): string => brief.format(new Date(`${date}T00:00:00Z`));
/** "5–11 December 2026". */
export const daysWords = (first: string, last: string): string =>
  range.formatRange(new Date(`${first}T00:00:00Z`), new Date(`${last}T00:00:00Z`));
/** "10:00" of a local time. */
export const clock = (local: string): string => local.slice(11, 16);

/** "10:00 to 11:30", or with the day of the end if that is another one. */
export function span({ start, end }: Pick<BookingShown, 'start' | 'end'>): string {
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  return `${clock(start)} to ${isSameDay ? '' : `${dayWords(end)}, `}${clock(end)}`;
}

/** "Tuesday 5 December 2026, 10:00 to 11:30 (Europe/Berlin)". */
export function whenWords(timetable: TimetableShown, booking: BookingShown): string {
  const zone = zoneOf(timetable, booking.calendar);
  return `${dateWords(booking.start)}, ${span(booking)}${zone ? ` (${zone})` : ''}`;
}

export const priceWords = ({ price }: Pick<BookingShown, 'price'>): string =>
  price ? written(price) : 'Free of charge';

/** The question's label where the service still has it. */
export function intakeRows({ services }: TimetableShown, { service, intake }: BookingShown): Html[] {
  const labels = services.find(({ key }) => key === service)?.intake ?? [];
  return Object.entries(intake).map(
    ([name, value]) =>
      html`<dt>${labels.find((one) => one.name === name)?.label ?? name}</dt><dd>${typeof value === 'string' ? value : value.join(', ')}</dd>`,
  );
}

/** What says how a visitor can be reached: by a reply to the e-mail about their booking, if there was one. */
export type Visited = {
  visitor: { name: string } | null;
  reference: string;
  notice: string | null;
  created_by: string | null;
};

/** Whether an e-mail about the new booking was sent, which goes to the visitor when it is replied to. */
const wasNoticed = ({ notice, created_by: by }: Visited, wasHeld: boolean): boolean =>
  notice !== null && !by && !wasHeld;

/** Where the visitor's address is. The platform stores it nowhere that it could show. */
export function addressWords(booking: BookingShown, wasHeld: boolean): string {
  if (booking.created_by) return 'Not stored: you or your team made this booking';
  return wasNoticed(booking, wasHeld)
    ? `In the e-mail “New booking” with the reference ${booking.reference}: reply to it to write to the visitor. We do not store the address.`
    : 'Not stored';
}

/**
 * For the site's people, where no e-mail tells the visitor. `what` completes "tell them …". `wasHeld`: the visitor had
 * not paid, so the e-mail about the new booking was never sent.
 */
export function toTell(visited: Visited, what: string, wasHeld: boolean): string {
  const { visitor, reference } = visited;
  const how = wasNoticed(visited, wasHeld)
    ? `by replying to the e-mail “New booking” with the reference ${reference}`
    : 'in person or by phone';
  return `${visitor?.name ?? 'The visitor'} gets no e-mail about this. Please tell them ${what}, ${how}.`;
}
