/** What visitors leave is read and answered: enquiries, bookings, photos, comments. */
import { from, site, type Task } from '#tools/bench/agents/task.ts';

const fields = [
  { name: 'name', label: 'Your name', kind: 'text', required: true },
  { name: 'message', label: 'Your message', kind: 'textarea', required: true },
];
const contact = [
  '---',
  "import Contact from '../components/Contact.astro';",
  "import Page from '../layouts/Page.astro';",
  '---',
  '<Page title="Contact"><Contact /></Page>',
].join('\n');
const hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' }];

export const visitors: Task[] = [
  {
    name: 'Take enquiries by a form',
    before: 3,
    steps: [
      { operation: 'form.create', arguments: { id: site, name: 'Contact', fields }, as: 'form' },
      {
        operation: 'source.commit',
        arguments: {
          id: site,
          message: 'Add a form',
          changes: [
            { path: 'src/components/Contact.astro', text: from('form', 'embed') },
            { path: 'src/pages/contact.astro', text: contact },
          ],
        },
      },
      { operation: 'site.publish', arguments: { id: site, scope: 'site' } },
    ],
    seen: [
      { page: '/contact/', has: 'Your message' },
      { url: '{form.action_url}', has: 'Your message' },
    ],
  },
  {
    name: 'Change what the form says after it is sent',
    steps: [
      {
        operation: 'form.update',
        arguments: { id: from('form', 'id'), button: 'Ask Jonas', thanks: 'I answer on Sundays.' },
      },
    ],
    seen: [{ url: '{form.action_url}', has: 'Ask Jonas' }],
  },
  {
    name: 'Close the form',
    steps: [{ operation: 'form.disable', arguments: { id: from('form', 'id') } }],
    seen: [{ answer: 'form.disable', has: 'disabled' }],
  },
  {
    name: 'Delete the form and what was sent',
    before: 2,
    steps: [{ operation: 'form.delete', arguments: { id: from('form', 'id'), confirm: true } }],
    seen: [{ url: '{form.action_url}', status: 404 }],
  },
  {
    name: 'Offer times to book',
    steps: [
      {
        operation: 'bookable.declare',
        arguments: {
          id: site,
          calendars: [{ key: 'walks', name: 'Walks', capacity: 4, time_zone: 'Europe/Berlin', hours }],
          services: [
            { key: 'walk', name: 'A guided walk', duration_minutes: 120, calendar_keys: ['walks'], seats_max: 4 },
          ],
        },
        as: 'bookable',
      },
    ],
    seen: [{ url: '{bookable.url}', has: 'A guided walk' }],
  },
  {
    name: 'Say who has booked',
    steps: [{ visitor: 'books' }, { operation: 'booking.list', arguments: { id: site }, as: 'bookings' }],
    seen: [{ answer: 'booking.list', has: 'Ada Visitor' }],
  },
  {
    name: 'Move a booking',
    steps: [{ operation: 'booking.move', arguments: { id: from('booked', 'id'), start: from('later', 'start') } }],
    seen: [{ answer: 'booking.move', has: 'Ada Visitor' }],
  },
  {
    name: 'Cancel a booking',
    steps: [{ operation: 'booking.cancel', arguments: { id: from('booked', 'id') } }],
    seen: [{ answer: 'booking.cancel', has: 'cancelled' }],
  },
  {
    name: 'Put the bookings into the owner’s own calendar',
    steps: [{ operation: 'calendar_feed.create', arguments: { id: site }, as: 'feed' }],
    seen: [{ url: '{feed.url}', has: 'BEGIN:VCALENDAR' }],
  },
  {
    name: 'Get photos from the owner',
    steps: [
      { operation: 'upload.create', arguments: { id: site, max_files: 3 }, as: 'upload' },
      { visitor: 'uploads' },
      { operation: 'asset.list', arguments: { id: site } },
    ],
    seen: [{ answer: 'asset.list', has: 'oven.png' }],
  },
  {
    name: 'Let the owner comment on the page',
    steps: [{ operation: 'review.create', arguments: { id: site }, as: 'review' }],
    seen: [{ url: '{review.url}', status: 303 }],
  },
  {
    name: 'Answer a comment, and close it',
    steps: [
      { operation: 'comment.write', arguments: { id: site, page: '/', body: 'The title is too long.' }, as: 'comment' },
      { operation: 'comment.reply', arguments: { id: from('comment', 'id'), message: 'Shortened.' } },
      { operation: 'comment.write', arguments: { id: site, thread_id: from('comment', 'id'), action: 'resolve' } },
      { operation: 'comment.list', arguments: { id: site, status: 'resolved' } },
    ],
    seen: [{ answer: 'comment.list', has: 'Shortened.' }],
  },
  {
    name: 'Say how many people have looked',
    steps: [{ visitor: 'looks' }, { operation: 'site.analytics', arguments: { id: site } }],
    seen: [{ answer: 'site.analytics', has: 'views' }],
  },
];
