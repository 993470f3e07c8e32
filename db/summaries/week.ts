/** The week that a summary is about: seven days in UTC, from Monday. Accounts have no time zone of their own. Pure. */
import { dayOf, later } from '#db/analytics/calendar.ts';
import { dayMs, hourMs } from '#rules/time.ts';

/** Without `until`, which is the Monday after. */
export type Week = { from: Date; until: Date };

/** The summary is sent from Monday at this time. */
const sendingMs = 6 * hourMs;
/** After a longer outage it is not sent. */
const staleMs = 2 * dayMs;

/** The week whose summary is to be sent now; null at other times. */
export function dueWeek(now: Date): Week | null {
  const today = dayOf(now);
  const monday = later(today, -((today.getUTCDay() + 6) % 7) * dayMs);
  const sinceMs = now.getTime() - monday.getTime();
  return sinceMs >= sendingMs && sinceMs < staleMs ? { from: later(monday, -7 * dayMs), until: monday } : null;
}
