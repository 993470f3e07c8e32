/** Hours, days and months in UTC: sites have no time zone of their own. Pure. */
import { dayMs, hourMs } from '#rules/time.ts';

export function hourOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs);
}

export function dayOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / dayMs) * dayMs);
}

/** The first day of the month that is `months` after that of `at`. */
export function monthOf(at: Date, months = 0): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1));
}

export function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

/** `YYYY-MM-DD`: PostgreSQL reads it as the same date in any time zone. */
export function dateText(at: Date): string {
  return at.toISOString().slice(0, 10);
}
