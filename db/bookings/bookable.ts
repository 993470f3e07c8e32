import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { FormField } from '#db/forms/form.ts';
import { Site } from '#db/sites/site.ts';
import type { DateException, Service, WeeklyHours } from '#rules/bookings/timetable.ts';

/** The timetable of a site without its calendars. After `endedAt` the site accepts no bookings. */
export const Bookable = defineEntity({
  name: 'Bookable',
  properties: {
    site: () => p.oneToOne(Site).primary(),
    /** The account whose address visitors reply to; use `replyAddress`. */
    replyToId: p.text().nullable(),
    services: p.json().$type<Service<FormField>[]>(),
    /** The collaborator who is notified of bookings; null for the owner. */
    notifyCollaboratorId: p.text().nullable(),
    /** The owner's text for visitors without scripts. */
    fallback: p.text().nullable(),
    declaredAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});
export type Bookable = InferEntity<typeof Bookable>;

/**
 * A calendar of a timetable. Archived when the timetable no longer contains it; declaring the same key again restores
 * it.
 */
export const BookingCalendar = defineEntity({
  name: 'BookingCalendar',
  tableName: 'calendar',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    key: p.text(),
    name: p.text(),
    position: p.integer(),
    capacity: p.integer(),
    timeZone: p.text(),
    place: p.text().nullable(),
    link: p.text().nullable(),
    hours: p.json().$type<WeeklyHours[]>(),
    exceptions: p.json().$type<DateException[]>(),
    createdAt: p.datetime(),
    archivedAt: p.datetime().nullable(),
  },
});
export type BookingCalendar = InferEntity<typeof BookingCalendar>;
