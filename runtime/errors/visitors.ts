/** Errors of comments, forms and bookings. */
import { type ErrorRow, notOffered } from './row.ts';

export const visitorErrors = {
  // Comments
  invalid_body: {
    status: 400,
    retryable: false,
    when: 'The comment is missing or too long',
    remedy: 'Send a comment of 1 to 4,000 characters.',
  },
  no_storage: {
    status: 400,
    retryable: false,
    when: 'This deployment cannot store screenshots',
    remedy: 'Omit the screenshot.',
  },
  note_too_long: {
    status: 400,
    retryable: false,
    when: 'The note is longer than 500 characters',
    remedy: 'Shorten the note to 500 characters.',
  },
  // Forms
  forms_disabled: { status: 503, retryable: false, when: 'Forms are disabled', remedy: notOffered },
  invalid_fields: {
    status: 400,
    retryable: false,
    when: 'A field is missing, repeated or of an unsupported kind',
    remedy: 'Correct the field that the message names. Every field needs a unique name and a supported kind.',
  },
  invalid_notify_to: {
    status: 400,
    retryable: false,
    when: '`notify_to` is not a valid plain address',
    remedy: 'Send one plain address.',
  },
  notify_to_not_on_site: {
    status: 400,
    retryable: false,
    when: 'The address belongs to nobody on the site',
    remedy: 'Send the address of the owner or of a collaborator; invite them first.',
  },
  form_fields_removed: {
    status: 409,
    retryable: false,
    when: 'The change removes fields that have submissions',
    remedy: 'Keep the fields that have submissions, or create a new form and disable this one.',
  },
  form_has_submissions: {
    status: 409,
    retryable: false,
    when: 'The form has submissions, so it cannot change this way',
    remedy: 'Keep the kind of that field, or create a new form and disable this one.',
  },
  // Bookings
  bookings_unavailable: {
    status: 503,
    retryable: false,
    when: 'Bookings are disabled on this deployment or for this site',
    remedy: 'Stop, and hide the booking form: bookings are not possible here.',
  },
  invalid_timetable: {
    status: 400,
    retryable: false,
    when: 'The timetable is not valid',
    remedy: 'Correct what the message names, and send the whole timetable again.',
  },
  invalid_calendar: {
    status: 400,
    retryable: false,
    when: 'The service has no such calendar',
    remedy: 'Send one of the `calendar_keys` of the service.',
  },
  invalid_service: {
    status: 400,
    retryable: false,
    when: 'The site offers no such service',
    remedy: 'Send the key of a service from the timetable of the site.',
  },
  invalid_visitor: {
    status: 400,
    retryable: false,
    when: 'The name, the e-mail address or an intake field is missing or not valid',
    remedy: 'Ask the visitor to correct each field that the message names.',
  },
  slot_taken: {
    status: 409,
    retryable: false,
    when: 'The time is no longer available',
    remedy: 'Read the slots again, and offer the remaining times.',
  },
  not_cancellable: {
    status: 409,
    retryable: false,
    when: 'The booking was already cancelled, or it expired unpaid',
    remedy: 'No action needed: it no longer holds a seat. Read the booking for its status.',
  },
  payments_unavailable: {
    status: 400,
    retryable: false,
    when: 'The service has a price, but the site accepts no payments',
    remedy: 'Attach a payout account to the site first, or remove the prices.',
  },
  nothing_paid: {
    status: 409,
    retryable: false,
    when: 'Nothing was paid, so there is nothing to refund',
    remedy: 'No action needed: nothing was paid.',
  },
  confirm_required: {
    status: 409,
    retryable: false,
    when: 'The caller has to confirm this change',
    remedy:
      'Tell the owner what the message says will be lost. With their consent, follow `next_action`: send the call again with `"confirm": true`, or a DELETE with `?confirm=true`.',
  },
} as const satisfies Record<string, ErrorRow>;
