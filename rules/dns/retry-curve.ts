/** When a domain is checked next. */
import type { DomainStatus } from '#rules/states.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';

const eagerChecks = 10;
const eagerMs = 5_000;
const slowestMs = 4 * hourMs;
const patientMs = 30 * dayMs;

export type Checked = { status: DomainStatus; statusSince: Date; checks: number; elsewhereChecks: number };

/**
 * A pending domain is checked every 5 s ten times. Then, and where a domain is lost, attempt n waits min(60·1.05ⁿ s)
 * for n < 10, then min(60·1.15ⁿ s, 4 h), and after 30 days a day. An active domain is checked hourly, and every 5
 * minutes once a check fails.
 */
export function nextCheckMs({ status, statusSince, checks, elsewhereChecks }: Checked, now: Date): number {
  if (status === 'active') return elsewhereChecks > 0 ? 5 * minuteMs : hourMs;
  if (status === 'pending' && checks < eagerChecks) return eagerMs;
  if (now.getTime() - statusSince.getTime() >= patientMs) return dayMs;
  return Math.min(minuteMs * (checks < 10 ? 1.05 : 1.15) ** checks, slowestMs);
}
