/** Errors of photos, uploads, sketches, analytics and feedback, and the conventions of this service. */
import { type ErrorRow, notOffered } from './row.ts';

export const otherErrors = {
  // Photos, uploads and sketches
  photos_disabled: {
    status: 503,
    retryable: false,
    when: 'No stock photo library is configured',
    remedy: 'Use the owner’s own photos: create an upload link.',
  },
  photos_busy: {
    status: 503,
    retryable: true,
    when: 'The platform has reached the photo library’s rate limit',
    remedy: 'Wait a minute, then search again.',
  },
  invalid_photo: {
    status: 400,
    retryable: false,
    when: 'There is no photo with this id',
    remedy: 'Search again, and use an id from the results.',
  },
  uploads_disabled: {
    status: 503,
    retryable: false,
    when: 'This installation cannot store uploaded files',
    remedy: notOffered,
  },
  invalid_upload: {
    status: 400,
    retryable: false,
    when: 'The request for an upload link is not valid',
    remedy: 'Correct the value named in the message, and send the call again.',
  },
  invalid_range: {
    status: 416,
    retryable: false,
    when: 'The range begins after the end of the file',
    remedy: 'Send a range within the file, or read the whole file without `Range`.',
  },
  stale_hash: {
    status: 409,
    retryable: false,
    when: 'The file or branch has changed since you read it',
    remedy: 'Read the file or branch again, then resend the change.',
  },
  edit_mismatch: {
    status: 409,
    retryable: false,
    when: 'The words of an edit do not occur exactly once in the file',
    remedy: 'Read the file again, and send more of the words around the place to change.',
  },
  screenshots_disabled: {
    status: 503,
    retryable: false,
    when: 'This installation has no browser for screenshots and checks',
    remedy: 'Ask the operator to install Chromium. Until then, ask the owner to look at the page.',
  },
  page_not_shown: {
    status: 422,
    retryable: false,
    when: 'The page does not let itself be shown within the limits of time and memory',
    remedy:
      'Find what keeps the page busy: a script without an end, or a very large picture. Publish the page without it.',
  },
  sketches_disabled: {
    status: 503,
    retryable: false,
    when: 'This installation cannot host sketches',
    remedy: 'Show the owner the design directions in another way: in preview slots, if available, or as images.',
  },
  invalid_sketches: {
    status: 400,
    retryable: false,
    when: 'A design direction is incomplete or not valid',
    remedy: 'Send 1 to 6 design directions, each with a name and a complete HTML page.',
  },
  // Analytics and feedback
  analytics_disabled: { status: 503, retryable: false, when: 'Analytics are disabled', remedy: notOffered },
  invalid_kind: {
    status: 400,
    retryable: false,
    when: 'The kind of feedback is not supported',
    remedy: 'Set the kind to `defect`, `missing` or `blame`.',
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
    remedy: 'Shorten the message to 4,000 characters. Put the request and its response into `context`.',
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
    when: 'The `Idempotency-Key` was already used with a different body',
    remedy: 'Use a new key for each new request. Reuse a key only to repeat the same request.',
  },
  frozen_file: {
    status: 409,
    retryable: false,
    when: 'The change affects a file that only the platform may change',
    remedy: 'Leave the file unchanged: the platform manages dependencies and their lockfile.',
  },
  crosses_repositories: {
    status: 400,
    retryable: false,
    when: 'The changes affect both the source and content repositories',
    remedy: 'Make two commits: one for the files under `src/content/`, and one for all other files.',
  },
  format_not_allowed: {
    status: 400,
    retryable: false,
    when: 'The folder does not accept files of this format',
    remedy: 'Put images and fonts under `src/assets/`, and files that are served unchanged under `src/static/`.',
  },
  already_invited: {
    status: 409,
    retryable: false,
    when: 'This e-mail address already has a pending or expired invitation to the site',
    remedy: 'Withdraw the invitation named in `next_action`, then invite the address again.',
  },
  invalid_input: {
    status: 400,
    retryable: false,
    when: 'A query parameter, header or path segment is unknown or not valid',
    remedy: 'Correct the value named in the message, and send the call again.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    when: 'This path does not support this HTTP method',
    remedy: 'Use a method listed in the response’s `allow` header.',
  },
} as const satisfies Record<string, ErrorRow>;
