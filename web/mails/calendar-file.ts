/** Calendar files (RFC 5545): one event, which mail clients offer to add to the reader's calendar, or a feed of many. */

export type CalendarEvent = {
  /** Never changes, so that a second file updates the same event. */
  uid: string;
  /** RFC 3339. */
  stamp: string;
  start: string;
  end: string;
  summary: string;
  description: string;
  location: string;
  url: string;
  /** Increases with each move of the event; 0 by default. */
  sequence?: number;
  /** Not confirmed yet. */
  tentative?: boolean;
};

/** One event. Times are in UTC, so that no time zone definition is needed. */
export const calendarFile = (event: CalendarEvent): string => writeCalendar(['METHOD:PUBLISH'], [event]);

/** A calendar that programs read again every hour. */
export function calendarFeed(name: string, events: readonly CalendarEvent[]): string {
  const refresh = ['REFRESH-INTERVAL;VALUE=DURATION:PT1H', 'X-PUBLISHED-TTL:PT1H'];
  return writeCalendar([`NAME:${escaped(name)}`, `X-WR-CALNAME:${escaped(name)}`, ...refresh], events);
}

function writeCalendar(properties: readonly string[], events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Frontage//Bookings//EN',
    'CALSCALE:GREGORIAN',
    ...properties,
    ...events.flatMap(eventLines),
    'END:VCALENDAR',
  ];
  return `${lines.map(fold).join('\r\n')}\r\n`;
}

function eventLines(event: CalendarEvent): string[] {
  return [
    'BEGIN:VEVENT',
    `UID:${unbroken(event.uid)}`,
    `SEQUENCE:${event.sequence ?? 0}`,
    `DTSTAMP:${utc(event.stamp)}`,
    `DTSTART:${utc(event.start)}`,
    `DTEND:${utc(event.end)}`,
    `SUMMARY:${escaped(event.summary)}`,
    `DESCRIPTION:${escaped(event.description)}`,
    `LOCATION:${escaped(event.location)}`,
    `URL:${unbroken(event.url)}`,
    `STATUS:${event.tentative ? 'TENTATIVE' : 'CONFIRMED'}`,
    'TRANSP:OPAQUE',
    'END:VEVENT',
  ];
}

const utc = (moment: string) => `${new Date(moment).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

/** Values that are not TEXT, so nothing in them is escaped. A line break would begin another property. */
const unbroken = (value: string) => value.toWellFormed().replace(/[\s\p{C}]/gu, '');

/** Section 3.3.11. Control characters are not allowed in TEXT. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, '')
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\n/g, '\\n');
}

/** Section 3.1: at most 75 octets in a line, without splitting a character. */
function fold(line: string): string {
  const folded: string[] = [];
  let part = '';
  for (const character of line) {
    if (Buffer.byteLength(part + character) > 74) {
      folded.push(part);
      part = '';
    }
    part += character;
  }
  return [...folded, part].join('\r\n ');
}
