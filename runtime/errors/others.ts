/** Errors of photos, uploads, sketches, analytics and feedback, and the conventions of this service. */
import { type ErrorRow, notOffered } from './row.ts';

export const otherErrors = {
  // Photos, uploads and sketches
  photos_disabled: {
    status: 503,
    retryable: false,
    when: 'No library of stock photos is configured',
    remedy: 'Use the owner’s own photos: create an upload link.',
  },
  photos_busy: {
    status: 503,
    retryable: true,
    when: 'The photo library limits the whole platform. Wait a minute',
    remedy: 'Wait a minute, then search again.',
  },
  invalid_photo: {
    status: 400,
    retryable: false,
    when: 'No photo has this id',
    remedy: 'Search again, and use an id from the results.',
  },
  uploads_disabled: {
    status: 503,
    retryable: false,
    when: 'This deployment cannot store uploaded files',
    remedy: notOffered,
  },
  invalid_upload: {
    status: 400,
    retryable: false,
    when: 'The request for an upload link is not valid',
    remedy: 'Correct what the message names, and send the call again.',
  },
  stale_hash: {
    status: 409,
    retryable: false,
    when: 'The file or the branch changed meanwhile. Read it and send the change again',
    remedy: 'Read it again, then send the change again.',
  },
  sketches_disabled: {
    status: 503,
    retryable: false,
    when: 'This deployment cannot host sketches',
    remedy: 'Show the directions another way: in preview slots if available, or as images.',
  },
  invalid_sketches: {
    status: 400,
    retryable: false,
    when: 'A direction is incomplete or not valid',
    remedy: 'Send 1 to 6 directions, each with a name and a complete HTML page.',
  },
  // Analytics and feedback
  analytics_disabled: { status: 503, retryable: false, when: 'Analytics are disabled', remedy: notOffered },
  invalid_kind: {
    status: 400,
    retryable: false,
    when: 'The kind of feedback is not supported',
    remedy: 'Send `defect`, `missing` or `blame`.',
  },
  invalid_message: {
    status: 400,
    retryable: false,
    when: 'The feedback message is missing',
    remedy: 'Describe what happened and what you expected.',
  },
  message_too_long: {
    status: 400,
    retryable: false,
    when: 'The feedback message is too long',
    remedy: 'Shorten the message to 4,000 characters. Put the call and its response into `context`.',
  },
  context_too_large: {
    status: 400,
    retryable: false,
    when: 'The feedback context is too large',
    remedy: 'Send only the part that shows the problem, at most 16 KiB of JSON.',
  },
  // Conventions of this service
  idempotency_mismatch: {
    status: 409,
    retryable: false,
    when: 'The Idempotency-Key was used with another body',
    remedy: 'Use a new key for a new body. Use the same key only to repeat the same request.',
  },
  frozen_file: {
    status: 409,
    retryable: false,
    when: 'The change touches a file that only the platform may change',
    remedy: 'Leave the file unchanged: the platform manages the packages and their lockfile.',
  },
  crosses_repositories: {
    status: 400,
    retryable: false,
    when: 'The changes touch both the source and the content repository',
    remedy: 'Make two commits: one for `src/content/`, one for everything else.',
  },
  format_not_allowed: {
    status: 400,
    retryable: false,
    when: 'The folder does not accept files of this format',
    remedy: 'Put the file where its format is accepted: images and fonts under `src/assets/`, PDFs under `public/`.',
  },
  already_invited: {
    status: 409,
    retryable: false,
    when: 'The address already has an open or expired invitation to the site',
    remedy: 'Withdraw the invitation that `next_action` names, then invite again.',
  },
  invalid_input: {
    status: 400,
    retryable: false,
    when: 'A query parameter, a header or a part of the path is unknown or not valid',
    remedy: 'Correct what the message names, and send the call again.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    when: 'The path exists, but does not support this method',
    remedy: 'Use a method from the `allow` header.',
  },
} as const satisfies Record<string, ErrorRow>;
