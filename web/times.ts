/** Times in words: without a script, a page does not know the reader's time zone. */
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';

const units = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
] as const;

/** Made at their first use: a process takes 0.05 s for its first formats. */
let made: { written: Intl.RelativeTimeFormat; inFull: Intl.DateTimeFormat; date: Intl.DateTimeFormat } | undefined;
const formats = () => {
  made ??= {
    written: new Intl.RelativeTimeFormat('en', { numeric: 'auto' }),
    inFull: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
    date: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  };
  return made;
};

/**
 * "5 minutes ago", "in 71 hours", "in 5 days", "just now". Of less than three days, the hours matter; later days are
 * rounded, so that 14 days are still that a minute later.
 */
export function relative(moment: Date, now: Date): string {
  const ms = moment.getTime() - now.getTime();
  for (const [unit, length] of units) {
    const isLater = unit === 'day' && ms > 0;
    if (Math.abs(ms) >= (isLater ? 3 * length : length))
      return formats().written.format(isLater ? Math.round(ms / length) : Math.trunc(ms / length), unit);
  }
  return ms <= 0 ? 'just now' : 'in less than a minute';
}

/** "3 March 2027 at 14:05 UTC". */
export function exact(moment: Date): string {
  return `${formats().inFull.format(moment)} UTC`;
}

/** "3 March 2027 at 15:05", for a text that names the zone. */
export function exactIn(moment: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone }).format(moment);
}

/** "3 March 2027". */
export function day(moment: Date): string {
  return formats().date.format(moment);
}
