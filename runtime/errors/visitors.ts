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
    when: 'This installation cannot store screenshots',
    remedy: 'Send the comment without a screenshot.',
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
    remedy: 'Correct the field named in the message. Every field needs a unique name and a supported kind.',
  },
  invalid_notify_to: {
    status: 400,
    retryable: false,
    when: '`notify_to` is not a valid plain e-mail address',
    remedy: 'Send one plain e-mail address, without a display name.',
  },
  notify_to_not_on_site: {
    status: 400,
    retryable: false,
    when: 'The address belongs to neither the owner nor a collaborator of the site',
    remedy: 'Send the e-mail address of the owner or of a collaborator. Invite a new collaborator first.',
  },
  form_fields_removed: {
    status: 409,
    retryable: false,
    when: 'The change removes form fields that have submissions',
    remedy: 'Keep the fields that have submissions, or create a new form and disable this one.',
  },
  form_has_submissions: {
    status: 409,
    retryable: false,
    when: 'The form has submissions, so this change is not possible',
    remedy: 'Leave the field’s kind unchanged, or create a new form and disable this one.',
  },
  // Bookings
  bookings_unavailable: {
    status: 503,
    retryable: false,
    when: 'Bookings are disabled on this installation or for this site',
    remedy: 'Hide the booking form, and do not retry: bookings are not possible here.',
  },
  invalid_timetable: {
    status: 400,
    retryable: false,
    when: 'The timetable is not valid',
    remedy: 'Correct the part named in the message, and send the whole timetable again.',
  },
  invalid_calendar: {
    status: 400,
    retryable: false,
    when: 'The service does not use this calendar',
    remedy: 'Send one of the service’s `calendar_keys`.',
  },
  invalid_service: {
    status: 400,
    retryable: false,
    when: 'The site does not offer this service',
    remedy: 'Send the key of a service in the site’s timetable.',
  },
  invalid_visitor: {
    status: 400,
    retryable: false,
    when: 'The visitor’s name, e-mail address or an intake field is missing or not valid',
    remedy: 'Ask the visitor to correct each field named in the message.',
  },
  slot_taken: {
    status: 409,
    retryable: false,
    when: 'The time is no longer available',
    remedy: 'List the slots again, and offer the remaining times.',
  },
  not_cancellable: {
    status: 409,
    retryable: false,
    when: 'The booking has already been cancelled, or expired unpaid',
    remedy: 'No action needed: the booking no longer holds a seat. Read it for its status.',
  },
  payments_unavailable: {
    status: 400,
    retryable: false,
    when: 'The service has a price, but the site cannot accept payments',
    remedy: 'Attach a payout account to the site first, or remove the prices.',
  },
  nothing_paid: {
    status: 409,
    retryable: false,
    when: 'Nothing was paid, so there is nothing to refund',
    remedy: 'No action needed: there is no payment to refund.',
  },
  confirm_required: {
    status: 409,
    retryable: false,
    when: 'The change requires confirmation',
    remedy:
      'Tell the owner what will be lost, according to the message. With their consent, follow `next_action`: send the call again with `"confirm": true`, or a DELETE with `?confirm=true`.',
  },
} as const satisfies Record<string, ErrorRow>;
