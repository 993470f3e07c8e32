/** A calendar file (RFC 5545) of one event, which mail programs offer to put into the reader's calendar. */

export type CalendarEvent = {
  /** The same for ever, so that a second file of it is no second event. */
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

/** Its times are in UTC, so no reader needs to know what the clocks of a place do. */
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

/** Section 3.3.11. Control characters have no place in a text. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, '')
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\n/g, '\\n');
}

/** Section 3.1: at most 75 octets in a line, and no character in two. */
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
