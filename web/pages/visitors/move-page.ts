/** The page on which a visitor moves a booking to another time. It needs no script. */
import { dateIn, timesIn } from '#rules/bookings/written-times.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { type BookingShown, facts } from '#web/pages/booking.ts';
import { choiceField, type Form, fault } from '#web/pages/form.ts';
import { type FreeDays, freeDaysHtml, freeDaysStyle } from './free-days.ts';

export type OtherTimes = {
  free: FreeDays;
  /** The chosen day, and its times in RFC 3339. */
  day: { date: string; times: readonly { start: string; end: string }[] } | null;
};

export function movePage({
  form,
  wrong,
  times,
  ...booking
}: BookingShown & { form: Form; times: OtherTimes; wrong?: string | undefined }): WrittenPage {
  const title = 'Choose another time';
  return writePage({
    title: `${title} – ${booking.hostname}`,
    brand: booking.hostname,
    layout: 'card',
    form: true,
    style: freeDaysStyle,
    main: html`<h1>${title}</h1>
<p class="lead">${booking.siteTitle} · ${booking.hostname}</p>
${facts(booking)}
${fault(wrong)}
${times.day ? dayHtml(times.day, booking.timeZone, form) : null}
${freeDaysHtml('', times.free, times.day?.date ?? null)}
<p class="hint">Until you move the booking, its time stays reserved for you.</p>`,
  });
}

function dayHtml({ date, times }: NonNullable<OtherTimes['day']>, timeZone: string, form: Form): Html {
  const heading = html`<h2>${writtenDate(date)}</h2>`;
  if (times.length === 0)
    return html`<section class="panel">${heading}<p>No other time is available on this day.</p></section>`;
  const choices = times.map(({ start, end }) =>
    choiceField('radio', 'start', start, timesIn({ start, end }, timeZone), false),
  );
  const inside = html`<fieldset><legend>Time (${timeZone})</legend>${choices}</fieldset><button>Move the booking</button>`;
  return html`<section class="panel">${heading}${form({}, inside)}</section>`;
}

const writtenDate = (date: string): string => dateIn(`${date}T00:00:00Z`, 'UTC');
