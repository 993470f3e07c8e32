/** The forms with which the people of a site add a booking, or block time. */
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { choiceField } from '#web/pages/form.ts';
import { dateWords, span, type TimetableShown } from './booking-words.ts';
import { fieldsOf, wasTicked } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { hiddenFields, shownOnce } from './parts.ts';
import { sitePath } from './tabs.ts';

export type NewBookingView = {
  timetable: TimetableShown;
  /** What is chosen so far; the first step asks for it. */
  chosen: { service: string; calendar: string; date: string } | null;
  today: string;
  /** Free times of the chosen day. */
  times: readonly { start: string; end: string; seats_left: number }[];
  /** Whether e-mails can be sent. */
  mails: boolean;
};

export function newBookingPage(frame: SiteFrame, view: NewBookingView): WrittenPage {
  const main = html`<h1>New booking</h1>
<p class="lead">For somebody who called or came by. Nothing is charged.</p>
${choiceForm(frame, view)}
${view.chosen ? bookingForm(frame, view, view.chosen) : null}`;
  return sitePage(frame, 'bookings', { title: 'New booking', main });
}

/** A service in one of its calendars is one choice. */
const choiceValue = (service: string, calendar: string): string => `${service} ${calendar}`;

function choiceForm(frame: SiteFrame, { timetable, chosen, today }: NewBookingView): Html {
  const path = `${sitePath(frame.site.id, 'bookings')}/new`;
  const options = timetable.services.flatMap((service) =>
    service.calendar_keys.map((calendar): [string, string] => [
      choiceValue(service.key, calendar),
      `${service.name}${timetable.calendars.length > 1 ? `, ${nameOf(timetable, calendar)}` : ''}`,
    ]),
  );
  const field = fieldsOf(frame, path);
  const current = chosen ? choiceValue(chosen.service, chosen.calendar) : (options[0]?.[0] ?? '');
  return html`<form class="panel" method="get" action="${path}">
${field({ name: 'what', label: 'What', options, value: current })}
${field({ name: 'date', label: 'Day', type: 'date', value: chosen?.date ?? today, required: true })}
<button class="${chosen ? 'quiet' : ''}">Show the times</button></form>`;
}

const nameOf = ({ calendars }: TimetableShown, key: string) => calendars.find((one) => one.key === key)?.name ?? key;

function bookingForm(
  frame: SiteFrame,
  { timetable, times, mails }: NewBookingView,
  chosen: NonNullable<NewBookingView['chosen']>,
): Html {
  const action = `${sitePath(frame.site.id, 'bookings')}/new`;
  const field = fieldsOf(frame, action);
  const typed = frame.refused?.action === action ? frame.refused.values.start?.[0] : undefined;
  const service = timetable.services.find(({ key }) => key === chosen.service);
  const zone = timetable.calendars.find(({ key }) => key === chosen.calendar)?.time_zone ?? '';
  const radios = times.map(({ start, end, seats_left: left }, index) =>
    choiceField(
      'radio',
      'start',
      start,
      `${span({ start, end })}${left > 1 ? ` (${left} free)` : ''}`,
      typed === undefined ? index === 0 : typed === start,
    ),
  );
  const other = choiceField(
    'radio',
    'start',
    'other',
    'Another time, even outside the opening hours',
    typed === 'other' || times.length === 0,
  );
  const wishes = html`${field({ name: 'email', label: 'E-mail address, if they want a confirmation', type: 'email', max: 320, hint: 'They get an e-mail with a calendar file. Without an address, they get none.' })}
${choiceField('checkbox', 'notify_changes', 'yes', 'They want an e-mail if the booking changes', wasTicked(frame, action, 'notify_changes', false))}
${choiceField('checkbox', 'remind', 'yes', 'They want a reminder the day before', wasTicked(frame, action, 'remind', false))}`;
  const inside = html`${hiddenFields({ service: chosen.service, calendar: chosen.calendar, date: chosen.date })}
<fieldset><legend>${dateWords(chosen.date)} (${zone})</legend><div class="times">${radios}</div>${other}</fieldset>
${field({ name: 'time', label: 'Start of the other time', type: 'time' })}
${field({ name: 'name', label: 'Name', required: true, max: 100, autocomplete: 'off' })}
${(service?.seats_max ?? 1) > 1 ? field({ name: 'seats', label: 'Seats', type: 'number', value: '1' }) : null}
${mails ? wishes : null}
<button>Book</button>`;
  return html`<section class="panel">${frame.form({ action }, inside)}</section>`;
}

export type BlockView = { timetable: TimetableShown; today: string };

export function blockPage(frame: SiteFrame, { timetable, today }: BlockView): WrittenPage {
  const action = `${sitePath(frame.site.id, 'bookings')}/block`;
  const field = fieldsOf(frame, action);
  const options = timetable.calendars.map(({ key, name, time_zone: zone }) => [key, `${name} (${zone})`] as const);
  const inside = html`${field({ name: 'calendar', label: 'Calendar', options, hint: 'Times are those of the calendar’s time zone.' })}
<div class="pair">${field({ name: 'from_date', label: 'From', type: 'date', value: today, required: true })}${field({ name: 'from_time', label: 'Start time', type: 'time', value: '09:00', required: true })}</div>
<div class="pair">${field({ name: 'to_date', label: 'Until', type: 'date', value: today, required: true })}${field({ name: 'to_time', label: 'End time', type: 'time', value: '17:00', required: true })}</div>
<button>Block this time</button>`;
  const main = html`<h1>Block time</h1>
<p class="lead">Visitors cannot book while time is blocked. A block lasts at most four days; ask your agent to enter longer holidays.</p>
<section class="panel">${frame.form({ action }, inside)}</section>`;
  return sitePage(frame, 'bookings', { title: 'Block time', main });
}

/** The new address of a calendar feed, which is shown once. */
export function newFeedPage(frame: SiteFrame, url: string): WrittenPage {
  const base = sitePath(frame.site.id, 'bookings');
  const main = html`<h1>Your calendar address</h1>
${shownOnce('Copy it now', url, 'It is shown only once. Anyone who has it can read the bookings.')}
<section class="panel"><h2>Where to enter it</h2>
<dl class="facts"><dt>Google Calendar</dt><dd>Other calendars, <strong>+</strong>, From URL</dd>
<dt>Apple Calendar</dt><dd>File, New calendar subscription</dd>
<dt>Outlook</dt><dd>Add calendar, Subscribe from web</dd></dl></section>
<p><a href="${base}">Back to the bookings</a></p>`;
  return sitePage(frame, 'bookings', { title: 'Your calendar address', main, copies: true });
}

/** A site without a timetable. */
export function noTimetablePage(frame: SiteFrame): WrittenPage {
  const main = html`<h1>Bookings</h1>
<p class="panel empty">This site takes no bookings yet. Ask your agent to set up a timetable: what can be booked, with whom, and when.</p>`;
  return sitePage(frame, 'bookings', { title: 'Bookings', main });
}

export function feedEndPage(frame: SiteFrame, id: string): WrittenPage {
  const base = sitePath(frame.site.id, 'bookings');
  const asked = {
    title: 'Revoke this calendar address?',
    text: 'Calendars that use it will show no new bookings. You cannot undo this, but you can create a new address.',
    action: `${base}/feeds/${id}/end`,
    button: 'Revoke it',
    back: base,
  };
  return siteQuestion(frame, 'bookings', asked);
}
