/** Describes what a site offers and how to book it, so that a visitor's own agent needs no other document. */

import { howToSolve } from '#api/visitors/challenges.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Config } from '#runtime/config.ts';
import { type DeclaredTimetable, serviceOf } from './timetable.ts';

export async function describeBookable(
  em: EntityManager,
  config: Config,
  { site, bookable, calendars }: DeclaredTimetable,
  takesMoney: boolean,
) {
  const { address } = await canonicalUrl(em, config, site);
  return {
    site: { title: site.title, address },
    services: bookable.services.map((service) => ({
      ...serviceOf(service),
      has_link: Boolean(service.link),
      open: service.price === null || takesMoney,
    })),
    calendars: calendars.map(({ key, name, timeZone, place, link }) => ({
      key,
      name,
      time_zone: timeZone,
      place: place ?? null,
      has_link: Boolean(link),
    })),
    notices: Boolean(config.mail),
    how_to_book: steps(`${config.baseUrl}/b/${site.publicId}`, config.challenge),
  };
}

function steps(url: string, challenge: Config['challenge']) {
  return [
    {
      step: 'Find days with available times, at most 93 days per call.',
      method: 'GET',
      url: `${url}/days?service={service}&calendar={calendar}&from={date}&to={date}`,
    },
    {
      step: 'Find the available times on one day.',
      method: 'GET',
      url: `${url}/slots?service={service}&calendar={calendar}&date={date}`,
    },
    bookingStep(url),
    ...(challenge
      ? [
          {
            step:
              'Only if the response is the error not_a_person: solve a challenge, then book with its answer in altcha and a new ' +
              `Idempotency-Key. ${howToSolve[challenge.kind === 'altcha' ? 'altcha' : 'hosted']}`,
            method: 'GET',
            url: `${url}/challenge`,
          },
        ]
      : []),
  ];
}

function bookingStep(url: string) {
  return {
    step:
      'Ask the person you are acting for to confirm, then book. Generate an Idempotency-Key so that you can safely retry. An ' +
      'e-mail with a calendar file and a cancellation link is sent to the visitor’s address. Set notify_changes and remind only if ' +
      'the person wishes so; otherwise the address is not kept.',
    method: 'POST',
    url,
    body: {
      service: '{service}',
      calendar: '{calendar}',
      start: '{start of a slot, exactly as returned}',
      seats: 1,
      visitor: { name: '{name}', email: '{address}', notify_changes: false, remind: false },
      intake: { '{name of an intake field}': '{answer}' },
    },
  };
}
