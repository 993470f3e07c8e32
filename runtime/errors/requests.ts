/** Errors of every call, and of authentication. */
import { call } from '#rules/calls/calls.ts';
import { accessRequestMs, deletionDelay, period } from '#rules/periods.ts';
import type { ErrorRow } from './row.ts';

export const requestErrors = {
  // Codes everywhere
  internal: {
    status: 500,
    retryable: true,
    when: 'An unexpected error occurred. Retry the call; if the error persists, send feedback with the `request_id`',
    remedy: `Send the same call again. If it still fails, report the \`request_id\` with ${call('feedback.create')}.`,
  },
  provider_error: {
    status: 502,
    retryable: 'depends',
    when: 'An external service failed. The message names the affected feature, but not the provider',
    remedy:
      'Retry if `retryable` is true. Otherwise, tell the owner which feature does not work, and continue without it.',
  },
  plan_limit: {
    status: 402,
    retryable: false,
    when: 'The request exceeds a plan limit or a size limit',
    remedy: `Send less data, or delete anything that is no longer needed. If plans are for sale (${call('billing.read')}), suggest a larger plan to the owner. Waiting does not help.`,
  },
  rate_limited: {
    status: 429,
    retryable: true,
    when: 'The caller has exceeded a rate limit',
    remedy: 'Wait the number of seconds in `retry-after`, then send the call again.',
  },
  // The request
  unauthorized: {
    status: 401,
    retryable: false,
    when: 'The token is missing, unknown, expired or revoked',
    remedy: `Send the header \`Authorization: Bearer <token>\` with a valid token. Without one, request access: ${call('access.request')}. The page /llms.txt explains how.`,
  },
  access_denied: {
    status: 403,
    retryable: false,
    when: 'The owner denied the access request, or the operator has blocked the account',
    remedy: 'Ask the owner for the reason before you request access again.',
  },
  account_deleting: {
    status: 403,
    retryable: false,
    when: 'The account is being deleted, or has been deleted',
    remedy: `Only its owner can restore it, for ${deletionDelay}: they sign in and press Restore. Then request access again. A deleted account cannot be restored.`,
  },
  token_not_yours: {
    status: 403,
    retryable: false,
    when: 'A token can rotate itself and the tokens that were made with it, and this is another one',
    remedy: 'Rotate the token with itself, or with the token that made it. If its secret was stolen, revoke it.',
  },
  owner_only: {
    status: 403,
    retryable: false,
    when: 'A collaborator called an operation that is reserved for the owner',
    remedy: 'Ask the site’s owner, or their agent, to make this call.',
  },
  out_of_scope: {
    status: 403,
    retryable: false,
    when: 'The token’s scope does not include this operation or this site',
    remedy:
      'Give the owner the link in `next_action`. They sign in and allow the call once, or widen the token. Then send the same call again.',
  },
  domain_not_the_owners: {
    status: 403,
    retryable: false,
    when: 'The domain and the site belong to different accounts',
    remedy: 'Ask the account that owns the site to add the domain.',
  },
  not_found: {
    status: 404,
    retryable: false,
    when: 'The resource does not exist, or the caller is not allowed to see it',
    remedy:
      'List the resources of this kind and check the id. Requests for other accounts’ resources also return this error.',
  },
  invalid_json: {
    status: 400,
    retryable: false,
    when: 'The body is not valid JSON, or does not match the operation’s schema',
    remedy: 'Send `content-type: application/json` and a body that matches the operation’s schema.',
  },
  body_too_large: {
    status: 400,
    retryable: false,
    when: 'The body is larger than 1 MiB',
    remedy: 'Split the data across several calls. Upload files with the operations that accept binary content.',
  },
  invalid_cursor: {
    status: 400,
    retryable: false,
    when: 'The cursor is not a `next_cursor` from this list',
    remedy: 'List from the start, without a cursor.',
  },
  invalid_limit: {
    status: 400,
    retryable: false,
    when: 'The `limit` is outside the operation’s range',
    remedy: 'Send a `limit` from 1 to 200, or omit it.',
  },
  invalid_since: {
    status: 400,
    retryable: false,
    when: '`since` is not an RFC 3339 timestamp',
    remedy: 'Send a time such as `2026-01-31T12:00:00Z`.',
  },
  invalid_period: {
    status: 400,
    retryable: false,
    when: 'The operation does not support this period',
    remedy: 'Set the period to `24h`, `7d`, `30d` or `12mo`.',
  },
  invalid_query: {
    status: 400,
    retryable: false,
    when: 'The search query is missing or empty',
    remedy: 'Send a few words to search for.',
  },
  invalid_format: {
    status: 400,
    retryable: false,
    when: 'The operation does not support this format',
    remedy: 'Omit `format` for JSON, or set it to `csv`.',
  },
  invalid_scope: {
    status: 400,
    retryable: false,
    when: 'The operation cannot publish this scope',
    remedy: 'Set the scope to `site` or `posts`.',
  },
  invalid_status: {
    status: 400,
    retryable: false,
    when: 'The operation cannot filter by this status',
    remedy: 'Send one of the values listed in the operation’s description.',
  },
  nothing_to_update: {
    status: 400,
    retryable: false,
    when: 'The body contains no changes',
    remedy: 'Send at least one field to change.',
  },
  not_a_person: {
    status: 400,
    retryable: false,
    when: 'The challenge is missing, unsolved or expired, or has already been used',
    remedy:
      'Send the form or booking from a visitor’s browser, where the widget solves the challenge, or solve one as its description says.',
  },
  invalid_origin: {
    status: 400,
    retryable: false,
    when: 'The request came from a page that is not on the site',
    remedy: 'Submit the form from a page on the site itself.',
  },
  // Sign-in and tokens
  auth_disabled: {
    status: 503,
    retryable: false,
    when: 'Sign-in by e-mail is disabled',
    remedy: 'Ask the operator for a token.',
  },
  signin_unavailable: {
    status: 410,
    retryable: false,
    when: 'The owner approved the request, but there is no account with this e-mail address',
    remedy: 'Ask the operator to create an account for that address, then request access again.',
  },
  invalid_email: {
    status: 400,
    retryable: false,
    when: 'The value is not a valid e-mail address',
    remedy: 'Send a single e-mail address without a display name.',
  },
  expired: {
    status: 410,
    retryable: false,
    when: 'The access request expired before the owner answered it, or the invitation expired',
    remedy: `Request access again, and tell the owner that they have ${period(accessRequestMs)} to answer. For an expired invitation, ask the site’s owner to send a new one.`,
  },
  already_redeemed: {
    status: 410,
    retryable: false,
    when: 'The access request has already been redeemed',
    remedy: 'Use the token that the first redemption returned. If you have lost it, request access again.',
  },
  not_a_grant: {
    status: 409,
    retryable: false,
    when: 'The plan was bought, not granted',
    remedy: `Ask the owner to cancel the plan in the billing portal: ${call('billing.portal')}.`,
  },
  current_token: {
    status: 409,
    retryable: false,
    when: 'A token cannot revoke itself or a token that it was made with',
    remedy: 'Use a different token to revoke this one, or ask the owner to revoke it on their account page.',
  },
  invalid_expiry: {
    status: 400,
    retryable: false,
    when: '`expires_at` is not in the future, or later than the expiry of the token in use',
    remedy: 'Set `expires_at` to a time in the future, before your token expires, or omit it.',
  },
  invalid_name: {
    status: 400,
    retryable: false,
    when: 'A name is missing, empty or not allowed',
    remedy: 'Correct the value named in the message, and send the call again.',
  },
} as const satisfies Record<string, ErrorRow>;
