/** What a site takes bookings for, in the words of the contract. Rows, answers and the engine share these shapes. Pure. */

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** Local wall time of one day, `HH:MM`; `to` may be `24:00`. */
export type Window = { from: string; to: string };
export type WeeklyHours = Window & { days: Weekday[] };
/** What holds on one date in place of the weekly hours; closed where there are none. */
export type DateException = { date: string; hours: Window[] };

export type Opening = { time_zone: string; hours: WeeklyHours[]; exceptions: DateException[] };
/** `capacity`: seats that may be taken at the same moment. */
export type Calendar = Opening & { key: string; name: string; capacity: number };

/** What decides when a service can be booked, every default filled in. */
export type Offering = {
  duration_minutes: number;
  /** From one start to the next, counted from where each window opens. */
  step_minutes: number;
  /** The calendar is taken for as long before and after. It may be closed then. */
  buffer_before_minutes: number;
  buffer_after_minutes: number;
  /** A booking comes at least as long before its start. */
  lead_minutes: number;
  /** Days from today, in the calendar's zone, that can be booked. */
  horizon_days: number;
};

export type Service<Field = unknown> = Offering & {
  key: string;
  name: string;
  calendar_keys: string[];
  /** Maximum seats of one booking. */
  seats_max: number;
  price: { amount: number; currency: string } | null;
  /** How long a seat is held for who has yet to pay; of a service with a price. */
  hold_minutes: number;
  intake: Field[];
};
