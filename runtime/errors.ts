/** The catalog of error codes: every `code` that the service returns, with its HTTP status and whether a retry can succeed. */

/** `'depends'`: the `retryable` option decides where the error is thrown. */
type Entry = { status: number; retryable: boolean | 'depends'; when: string };

export const catalog = {
  // Codes everywhere
  internal: {
    status: 500,
    retryable: true,
    when: 'The service failed. Retry; if the error persists, send feedback with the `request_id`',
  },
  provider_error: {
    status: 502,
    retryable: 'depends',
    when: 'An external service failed. The message names the affected part of the platform, never the provider',
  },
  plan_limit: { status: 402, retryable: false, when: 'The request exceeds a limit of the plan or a size limit' },
  rate_limited: { status: 429, retryable: true, when: 'Too many requests in a period' },
  // The request
  unauthorized: { status: 401, retryable: false, when: 'The token is missing, unknown, expired or revoked' },
  access_denied: { status: 403, retryable: false, when: 'The owner refused the access request' },
  owner_only: {
    status: 403,
    retryable: false,
    when: 'A collaborator called an operation that is reserved for the owner',
  },
  domain_not_the_owners: {
    status: 403,
    retryable: false,
    when: 'The domain and the site belong to different accounts',
  },
  not_found: { status: 404, retryable: false, when: 'The resource does not exist, or the caller may not see it' },
  invalid_json: { status: 400, retryable: false, when: 'The body is not valid JSON for the operation' },
  body_too_large: { status: 400, retryable: false, when: 'The body is larger than 1 MiB' },
  invalid_cursor: { status: 400, retryable: false, when: 'The cursor is not a `next_cursor` of this list' },
  invalid_limit: { status: 400, retryable: false, when: 'The limit is outside the range of the operation' },
  invalid_since: { status: 400, retryable: false, when: '`since` is not an RFC 3339 timestamp' },
  invalid_period: { status: 400, retryable: false, when: 'The operation does not report on this period' },
  invalid_query: { status: 400, retryable: false, when: 'The query is missing or empty' },
  invalid_format: { status: 400, retryable: false, when: 'The operation does not return this format' },
  invalid_scope: { status: 400, retryable: false, when: 'The operation does not publish this scope' },
  invalid_status: { status: 400, retryable: false, when: 'The operation does not filter by this status' },
  nothing_to_update: { status: 400, retryable: false, when: 'The body contains no change' },
  not_a_person: {
    status: 400,
    retryable: false,
    when: 'The challenge is missing, unsolved, expired or was used before',
  },
  invalid_origin: { status: 400, retryable: false, when: 'The request came from a page outside the site' },
  // Sign-in and tokens
  auth_disabled: { status: 503, retryable: false, when: 'Sign-in by e-mail is disabled' },
  signin_unavailable: {
    status: 410,
    retryable: false,
    when: 'The owner approved, but no account has this e-mail address',
  },
  invalid_email: { status: 400, retryable: false, when: 'The e-mail address is not a valid plain address' },
  expired: {
    status: 410,
    retryable: false,
    when: 'The access request expired before the owner answered it, or the invitation expired',
  },
  already_redeemed: { status: 410, retryable: false, when: 'The access request was already redeemed' },
  not_a_grant: { status: 409, retryable: false, when: 'The plan was paid for, not granted' },
  current_token: { status: 409, retryable: false, when: 'A token cannot revoke itself' },
  invalid_expiry: { status: 400, retryable: false, when: '`expires_at` is not in the future' },
  invalid_name: { status: 400, retryable: false, when: 'A name is missing, empty or not allowed' },
  // Sites and collaborators
  invalid_title: { status: 400, retryable: false, when: 'The title is missing or too long' },
  invalid_template: { status: 400, retryable: false, when: 'No template has this name' },
  invalid_return_path: { status: 400, retryable: false, when: 'The return path is not a path of the site' },
  site_archived: { status: 409, retryable: false, when: 'The site is archived or blocked' },
  no_repositories: { status: 503, retryable: false, when: 'This deployment has no git repositories' },
  invitations_unavailable: { status: 503, retryable: false, when: 'This deployment cannot send e-mail' },
  invalid_invitation: {
    status: 400,
    retryable: false,
    when: 'The request contains an invitation link where an invitation id is required',
  },
  invitation_accepted: { status: 409, retryable: false, when: 'The invitation was already accepted' },
  email_taken: { status: 409, retryable: false, when: 'Another account uses this e-mail address' },
  // Source, publishing and deployments
  publish_disabled: {
    status: 503,
    retryable: false,
    when: 'This deployment has no build capacity. Upload built output instead',
  },
  no_source: { status: 409, retryable: false, when: 'The site has no source. Push to its git repository' },
  no_live_version: { status: 409, retryable: false, when: 'Publishing posts requires a live site. Publish the site' },
  no_live_source: { status: 409, retryable: false, when: 'The live version was not built from the stored source' },
  build_failed: { status: 422, retryable: false, when: 'The build failed. `detail` contains the log' },
  build_timeout: {
    status: 422,
    retryable: false,
    when: 'The build exceeded its time limit. `detail` contains the log',
  },
  invalid_redirects: { status: 400, retryable: false, when: 'A redirect rule is not valid' },
  missing_asset: { status: 409, retryable: false, when: 'The bytes of a stored file are missing' },
  invalid_manifest: {
    status: 400,
    retryable: false,
    when: 'The manifest is empty, too large or contains an invalid path',
  },
  invalid_path: { status: 400, retryable: false, when: 'The platform does not store files at this path' },
  invalid_file: {
    status: 400,
    retryable: false,
    when: 'The content does not match the type of the file, is damaged or is not safe to serve',
  },
  hash_mismatch: { status: 400, retryable: false, when: 'The bytes do not match the hash in the URL' },
  size_mismatch: { status: 400, retryable: false, when: 'The length of the bytes differs from the manifest' },
  upload_incomplete: { status: 409, retryable: false, when: 'Files of the manifest have not been sent yet' },
  not_accepting_uploads: { status: 409, retryable: false, when: 'The deployment no longer accepts files' },
  superseded: { status: 409, retryable: false, when: 'A newer deployment is live. Create a new one' },
  not_restorable: { status: 409, retryable: false, when: 'The version cannot be restored. Publish from source' },
  unarchived_content: {
    status: 409,
    retryable: 'depends',
    when: 'Files are missing from the archive. Repeating the call fixes a publish, not a restore',
  },
  storage_error: { status: 502, retryable: true, when: 'Storage is temporarily unavailable' },
  invalid_slot: {
    status: 400,
    retryable: false,
    when: 'No preview slot has this number; for a booking, the start time is not offered',
  },
  // Previews
  preview_disabled: { status: 503, retryable: false, when: 'This deployment cannot serve previews' },
  preview_empty: { status: 409, retryable: false, when: 'The preview slot has no finished draft yet' },
  preview_expired: { status: 410, retryable: false, when: 'The draft expired and will be removed. Build a new one' },
  preview_holds_work: { status: 409, retryable: false, when: 'The preview slot contains work that is not on the site' },
  slot_empty: { status: 409, retryable: false, when: 'The preview slot has no draft' },
  slot_not_branched: { status: 409, retryable: false, when: 'The preview slot has no branch of its own' },
  draft_behind: { status: 409, retryable: false, when: 'The site changed after the draft was built' },
  draft_conflict: { status: 409, retryable: false, when: 'The site and the preview slot changed the same files' },
  // Domains
  invalid_domain: { status: 400, retryable: false, when: 'The domain name is not valid or cannot be added' },
  invalid_mode: { status: 400, retryable: false, when: 'The platform does not offer this mode' },
  invalid_record: { status: 400, retryable: false, when: 'The DNS record is not valid or not supported' },
  record_rejected: { status: 400, retryable: false, when: 'The name server rejected the DNS record' },
  records_not_managed: { status: 409, retryable: false, when: 'The platform does not host the DNS of the domain' },
  cname_unavailable: { status: 503, retryable: false, when: 'The CNAME target is not ready' },
  domain_taken: { status: 409, retryable: false, when: 'Another account has the domain' },
  domain_unavailable: { status: 409, retryable: false, when: 'The domain is reserved or blocked' },
  domain_not_active: { status: 409, retryable: false, when: 'The domain is not active yet' },
  attach_blocked: { status: 409, retryable: false, when: 'Something prevents serving the site on this domain' },
  check_unavailable: { status: 503, retryable: true, when: 'The check is temporarily unavailable' },
  // Comments
  invalid_body: { status: 400, retryable: false, when: 'The comment is missing or too long' },
  no_storage: { status: 400, retryable: false, when: 'This deployment cannot store screenshots' },
  note_too_long: { status: 400, retryable: false, when: 'The note is longer than 500 characters' },
  // Forms
  forms_disabled: { status: 503, retryable: false, when: 'Forms are disabled' },
  invalid_fields: { status: 400, retryable: false, when: 'A field is missing, repeated or of an unsupported kind' },
  invalid_notify_to: { status: 400, retryable: false, when: '`notify_to` is not a valid plain address' },
  notify_to_not_on_site: { status: 400, retryable: false, when: 'The address belongs to nobody on the site' },
  form_fields_removed: { status: 409, retryable: false, when: 'The change removes fields that have submissions' },
  form_has_submissions: {
    status: 409,
    retryable: false,
    when: 'The form has submissions, so it cannot change this way',
  },
  // Bookings
  bookings_unavailable: {
    status: 503,
    retryable: false,
    when: 'Bookings are disabled on this deployment or for this site',
  },
  invalid_timetable: { status: 400, retryable: false, when: 'The timetable is not valid' },
  invalid_calendar: { status: 400, retryable: false, when: 'The service has no such calendar' },
  invalid_service: { status: 400, retryable: false, when: 'The site offers no such service' },
  invalid_visitor: {
    status: 400,
    retryable: false,
    when: 'The name, the e-mail address or an intake field is missing or not valid',
  },
  slot_taken: { status: 409, retryable: false, when: 'The time is no longer available' },
  not_cancellable: { status: 409, retryable: false, when: 'The booking was already cancelled, or it expired unpaid' },
  payments_unavailable: {
    status: 400,
    retryable: false,
    when: 'The service has a price, but the site accepts no payments',
  },
  nothing_paid: { status: 409, retryable: false, when: 'Nothing was paid, so there is nothing to refund' },
  confirm_required: { status: 409, retryable: false, when: 'The caller has to confirm this change' },
  // Payments and payouts
  payouts_disabled: { status: 501, retryable: false, when: 'This deployment cannot accept payments for a site owner' },
  payouts_unavailable: { status: 503, retryable: false, when: 'The operator has not configured an encryption key' },
  payout_rail_unavailable: { status: 501, retryable: false, when: 'This way of receiving payments is not offered' },
  invalid_payout_account: { status: 400, retryable: false, when: 'The request for a payout account is not valid' },
  no_payout_account: { status: 409, retryable: false, when: 'The site has no payout account' },
  payout_account_pending: {
    status: 409,
    retryable: false,
    when: 'The provider does not let the account accept payments yet',
  },
  payout_account_no_currency: { status: 409, retryable: false, when: 'The currency of the account is not known yet' },
  payout_account_gone: {
    status: 409,
    retryable: false,
    when: 'The payout account that received the money is no longer connected',
  },
  payout_key_unreadable: { status: 502, retryable: false, when: 'The platform can no longer decrypt the stored key' },
  invalid_payment: { status: 400, retryable: false, when: 'The site cannot request this payment' },
  invalid_payout_offer: { status: 400, retryable: false, when: 'The payout offer is not valid' },
  offer_expired: { status: 409, retryable: false, when: 'The offer expired, or was withdrawn or declined' },
  offer_already_accepted: { status: 409, retryable: false, when: 'The offer was already accepted' },
  not_yours_to_answer: {
    status: 409,
    retryable: false,
    when: 'The account that created an offer cannot accept it',
  },
  // Billing
  billing_disabled: { status: 501, retryable: false, when: 'Nothing is metered, and no payment is required' },
  invalid_plan: { status: 400, retryable: false, when: 'No plan has this name' },
  plan_unavailable: { status: 501, retryable: false, when: 'The plan cannot be bought here' },
  already_subscribed: { status: 409, retryable: false, when: 'The account already has this plan' },
  no_billing_history: {
    status: 409,
    retryable: false,
    when: 'The account has never paid, so it has no billing portal',
  },
  paid_subscription_active: {
    status: 409,
    retryable: false,
    when: 'Cancel the paid subscription before granting a plan',
  },
  // Photos, uploads and sketches
  photos_disabled: { status: 503, retryable: false, when: 'No library of stock photos is configured' },
  photos_busy: { status: 503, retryable: true, when: 'The photo library limits the whole platform. Wait a minute' },
  invalid_photo: { status: 400, retryable: false, when: 'No photo has this id' },
  uploads_disabled: { status: 503, retryable: false, when: 'This deployment cannot store uploaded files' },
  invalid_upload: { status: 400, retryable: false, when: 'The request for an upload link is not valid' },
  stale_hash: {
    status: 409,
    retryable: false,
    when: 'The file or the branch changed meanwhile. Read it and send the change again',
  },
  sketches_disabled: { status: 503, retryable: false, when: 'This deployment cannot host sketches' },
  invalid_sketches: { status: 400, retryable: false, when: 'A direction is incomplete or not valid' },
  // Analytics and feedback
  analytics_disabled: { status: 503, retryable: false, when: 'Analytics are disabled' },
  invalid_kind: { status: 400, retryable: false, when: 'The kind of feedback is not supported' },
  invalid_message: { status: 400, retryable: false, when: 'The feedback message is missing' },
  message_too_long: { status: 400, retryable: false, when: 'The feedback message is too long' },
  context_too_large: { status: 400, retryable: false, when: 'The feedback context is too large' },
  // Conventions of this service
  idempotency_mismatch: { status: 409, retryable: false, when: 'The Idempotency-Key was used with another body' },
  frozen_file: { status: 409, retryable: false, when: 'The change touches a file that only the platform may change' },
  crosses_repositories: {
    status: 400,
    retryable: false,
    when: 'The changes touch both the source and the content repository',
  },
  format_not_allowed: { status: 400, retryable: false, when: 'The folder does not accept files of this format' },
  already_invited: {
    status: 409,
    retryable: false,
    when: 'The address already has an open or expired invitation to the site',
  },
  invalid_input: {
    status: 400,
    retryable: false,
    when: 'A query parameter, a header or a part of the path is unknown or not valid',
  },
  method_not_allowed: { status: 405, retryable: false, when: 'The path exists, but does not support this method' },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalog;

export type ErrorOptions = {
  /** What to do, in plain language, with the call to make. Omitted if no call fixes the problem. */
  nextAction?: string;
  /** The build log. Only for build failures. */
  detail?: string;
  /** Only for codes whose catalog entry says `'depends'`. */
  retryable?: boolean;
  /** Seconds until a retry can succeed; sent as `retry-after`. */
  retryAfterSeconds?: number;
  /** The underlying error. It is logged, never sent. */
  cause?: unknown;
};

/** The body of every error response, inside `{ "error": … }`. */
export type ErrorBody = {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  next_action?: string;
  request_id?: string;
  detail?: string;
};

/** An expected failure with a code of the catalog. Agents relay its message to the owner. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly nextAction: string | undefined;
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const entry: Entry = catalog[code];
    this.name = 'AppError';
    this.code = code;
    this.status = entry.status;
    this.retryable = options.retryable ?? (entry.retryable === 'depends' ? false : entry.retryable);
    this.nextAction = options.nextAction;
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.nextAction === undefined ? {} : { next_action: this.nextAction }),
      ...(this.detail === undefined ? {} : { detail: this.detail }),
    };
  }
}

type Constructors = { [Code in ErrorCode]: (message: string, options?: ErrorOptions) => AppError };

/** One constructor for each code: `throw errors.not_found('No site has this id.')`. */
export const errors = Object.fromEntries(
  (Object.keys(catalog) as ErrorCode[]).map((code) => [
    code,
    (message: string, options?: ErrorOptions) => new AppError(code, message, options),
  ]),
) as Constructors;
