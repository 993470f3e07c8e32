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
    when: 'A form field is missing or duplicated, or its kind is not supported',
    remedy: 'Correct the field named in the message. Every field needs a unique name and a supported kind.',
  },
  invalid_notify_to: {
    status: 400,
    retryable: false,
    when: '`notify_to` is not a valid e-mail address',
    remedy: 'Send a single e-mail address without a display name.',
  },
  notify_to_not_on_site: {
    status: 400,
    retryable: false,
    when: 'The address does not belong to the site’s owner or to one of its collaborators',
    remedy:
      'Send the e-mail address of the owner or a collaborator. A collaborator can also change and publish the site: for a mailbox alone, the owner forwards the e-mails there.',
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
    remedy: 'Do not change the field’s kind, or create a new form and disable this one.',
  },
  // Bookings
  bookings_unavailable: {
    status: 503,
    retryable: false,
    when: 'Bookings are disabled on this installation or for this site',
    remedy: 'Hide the booking form. Retrying does not help.',
  },
  invalid_timetable: {
    status: 400,
    retryable: false,
    when: 'The timetable is not valid',
    remedy: 'Correct the part named in the message, and send the complete timetable again.',
  },
  invalid_calendar: {
    status: 400,
    retryable: false,
    when: 'The service is not available in this calendar',
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
    when: 'The visitor’s name or e-mail address, or an intake field, is missing or not valid',
    remedy: 'Ask the visitor to correct each field named in the message.',
  },
  slot_taken: {
    status: 409,
    retryable: false,
    when: 'The time is no longer available',
    remedy: 'List the slots again, and offer the visitor the remaining times.',
  },
  not_cancellable: {
    status: 409,
    retryable: false,
    when: 'The booking has already been cancelled, or expired before it was paid. For a move also: it has ended',
    remedy: 'No action needed: the seat is free again. Read the booking to see its status.',
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
      'Tell the owner what will be lost; the message describes it. If they agree, follow `next_action`: send the same call again, with `confirm` set to true.',
  },
} as const satisfies Record<string, ErrorRow>;
