/** The access rules of the site's bookings and their e-mails, moves and calendar feeds. */
import type { Entry } from './access-table.ts';

export const ownBookingCalls: Record<string, Entry> = {
  'POST /v1/sites/{id}/bookings': {
    rule: 'members',
    body: (fixture) => ({ kind: 'booking', calendar: 'room', service: 'talk', start: fixture.someHour() }),
    path: async (fixture) => ({ id: (await fixture.bookable()).siteId }),
  },
  'PATCH /v1/sites/{id}/bookable': {
    rule: 'members',
    body: {},
    path: async (fixture) => ({ id: (await fixture.bookable()).siteId }),
  },
  'POST /v1/bookings/{id}/move': {
    rule: 'members',
    body: (fixture) => ({ start: fixture.someHour() }),
    path: (fixture) => fixture.booking(),
  },
  'POST /v1/sites/{id}/calendar-feeds': { rule: 'members' },
  'GET /v1/sites/{id}/calendar-feeds': { rule: 'members' },
  'DELETE /v1/calendar-feeds/{id}': { rule: 'members', path: (fixture) => fixture.calendarFeed() },
};
