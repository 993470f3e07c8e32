/** Where bookings take place: a place, which is public, or a link, which only a confirmed booking shows. Pure. */

export type Whereabouts = { place?: string | null | undefined; link?: string | null | undefined };

/** The service's own whereabouts, or else the calendar's. */
export function whereaboutsOf(service: Whereabouts, calendar: Whereabouts) {
  const { place, link } = service.place || service.link ? service : calendar;
  return { place: place ?? null, link: link ?? null };
}

/** The fault of a place and a link, as text for the caller; undefined if they are valid. */
export function whereaboutsFault({ place, link }: Whereabouts): string | undefined {
  if (place && link) return 'it has a place and a link; send one of them';
  if (!link) return undefined;
  const url = URL.parse(link);
  // The parser leaves out line breaks and tabs, and in a calendar file they would begin another property.
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[\s\p{C}]/u.test(link)
    ? undefined
    : 'the link must be an https URL without a user name, spaces and control characters';
}
