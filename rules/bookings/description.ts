/** A booking in one line, for those who pay for it. Pure. */

type Booked = { service: string; startsAt: Date; timeZone: string; seats: number };

/** Such as `Haircut, Tuesday, 5 December 2026 at 10:00 (Europe/London)`. */
export function bookingDescription({ service, startsAt, timeZone, seats }: Booked): string {
  const when = new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  }).format(startsAt);
  return `${service}, ${when} (${timeZone})${seats > 1 ? `, ${seats} seats` : ''}`;
}
