/** A site's timetable. Rows, responses and rules share these types. Pure. */

import type { Whereabouts } from './places.ts';
import type { Price } from './prices.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** Local wall time of one day, `HH:MM`; `to` may be `24:00`. */
export type Window = { from: string; to: string };
export type WeeklyHours = Window & { days: Weekday[] };
/** Replaces the weekly hours on one date, or on each from `from` to `to`, both included; closed where empty. */
export type DateException = {
  date?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  hours: Window[];
};

export type Opening = { time_zone: string; hours: WeeklyHours[]; exceptions: DateException[] };
/** `capacity`: seats that may be taken at the same time. */
export type Calendar = Opening & Whereabouts & { key: string; name: string; capacity: number };

/** The times at which a service can be booked, with every default filled in. */
export type Offering = {
  duration_minutes: number;
  /** From one start to the next, counted from the opening of each window. */
  step_minutes: number;
  /** Buffers also occupy seats; the calendar may be closed during them. */
  buffer_before_minutes: number;
  buffer_after_minutes: number;
  /** The minimum time from booking to start. */
  lead_minutes: number;
  /** How many days ahead can be booked, from today in the calendar's time zone. */
  horizon_days: number;
};

export type Service<Field = unknown> = Offering &
  Whereabouts & {
    key: string;
    name: string;
    calendar_keys: string[];
    /** Maximum seats of one booking. */
    seats_max: number;
    price: Price | null;
    /** How long a seat is held until it is paid; only for a service with a price. */
    hold_minutes: number;
    intake: Field[];
  };
