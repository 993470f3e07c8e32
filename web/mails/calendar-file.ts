/** A calendar file (RFC 5545) with one event, which mail clients offer to add to the reader's calendar. */

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
};

/** Times are in UTC, so that no time zone definition is needed. */
export function calendarFile(event: CalendarEvent): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Frontage//Bookings//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${event.uid}`,
    `DTSTAMP:${utc(event.stamp)}`,
    `DTSTART:${utc(event.start)}`,
    `DTEND:${utc(event.end)}`,
    `SUMMARY:${escaped(event.summary)}`,
    `DESCRIPTION:${escaped(event.description)}`,
    `LOCATION:${escaped(event.location)}`,
    `URL:${event.url}`,
    'STATUS:CONFIRMED',
    'TRANSP:OPAQUE',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return `${lines.map(fold).join('\r\n')}\r\n`;
}

const utc = (moment: string) => `${new Date(moment).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

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
