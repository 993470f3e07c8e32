/** Times as people read them: each names its time zone. Pure. */

/** Such as `Tuesday 5 December 2026, 10:00 (Europe/London)`. `moment` is RFC 3339. */
export function momentIn(moment: string, timeZone: string): string {
  return `${dateIn(moment, timeZone)}, ${timeIn(moment, timeZone)} (${timeZone})`;
}

/** The same, followed by the reader's own zone if their clock shows another time. */
export function momentFor(moment: string, timeZone: string, readersZone: string | undefined): string {
  const own = readersZone !== undefined && isElsewhere([moment], timeZone, readersZone) ? readersZone : undefined;
  return own === undefined
    ? momentIn(moment, timeZone)
    : `${momentIn(moment, timeZone)} – in your time zone ${momentIn(moment, own)}`;
}

/** Whether a clock of the other zone shows another time at one of the moments. */
export function isElsewhere(moments: readonly string[], timeZone: string, other: string): boolean {
  return moments.some((at) => dateIn(at, other) !== dateIn(at, timeZone) || timeIn(at, other) !== timeIn(at, timeZone));
}

/** Such as `10:00 to 11:30`, with the date of the end if that is another one. */
export function timesIn({ start, end }: { start: string; end: string }, timeZone: string): string {
  const [first, last] = [dateIn(start, timeZone), dateIn(end, timeZone)];
  return `${timeIn(start, timeZone)} to ${first === last ? '' : `${last}, `}${timeIn(end, timeZone)}`;
}

export function dateIn(moment: string, timeZone: string): string {
  return formatOf('date', timeZone).format(new Date(moment));
}

function timeIn(moment: string, timeZone: string): string {
  return formatOf('time', timeZone).format(new Date(moment));
}

const parts = {
  date: { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
  time: { timeStyle: 'short' },
} as const;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Creating a format takes as long as eighty uses. There are at most two for each of the tz database's 600 zones. */
function formatOf(part: keyof typeof parts, timeZone: string): Intl.DateTimeFormat {
  const key = `${part} ${timeZone}`;
  const known = formats.get(key);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', { ...parts[part], timeZone });
  formats.set(key, format);
  return format;
}
