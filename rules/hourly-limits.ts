/** What counts against which hourly limit of an owner. Pure. */
import type { LimitName } from './limit-names.ts';
import type { DeploymentKind } from './states.ts';
import { hourMs } from './time.ts';

/** The kinds of deployments that each limit counts. */
const counted = {
  publishes_per_hour: ['site', 'posts', 'preview'],
  previews_per_hour: ['draft'],
  uploads_per_hour: ['upload'],
} as const satisfies Partial<Record<LimitName, readonly DeploymentKind[]>>;
export type HourlyLimit = keyof typeof counted;

export const kindsOf = (name: HourlyLimit): DeploymentKind[] => [...counted[name]];

export function hourlyLimitOf(kind: DeploymentKind): HourlyLimit {
  if (kind === 'upload') return 'uploads_per_hour';
  return kind === 'draft' ? 'previews_per_hour' : 'publishes_per_hour';
}

/** When something ran, in milliseconds. */
export type Span = { from: number; to: number };

/** The whole seconds of these spans within the last hour. */
export function secondsUsed(spans: readonly Span[], now: number): number {
  return Math.floor(withinHour(spans, now).reduce((sum, { from, to }) => sum + to - from, 0) / 1000);
}

/** When the seconds fall below the limit, which they have reached, if nothing else runs. The spans are in order. */
export function belowLimitAt(spans: readonly Span[], now: number, limit: number): number {
  const recent = withinHour(spans, now);
  let excess = (secondsUsed(spans, now) - limit) * 1000;
  for (const { from, to } of recent) {
    if (excess < to - from) return from + excess + hourMs;
    excess -= to - from;
  }
  return now + hourMs;
}

function withinHour(spans: readonly Span[], now: number): Span[] {
  const since = now - hourMs;
  return spans.map(({ from, to }) => ({ from: Math.max(from, since), to: Math.max(to, since) }));
}
