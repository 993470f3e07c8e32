/** The one catalog of error codes: every `code` the service can answer, with its HTTP status and whether a retry can help. */

/** `'depends'`: decided where the error is raised, by the `retryable` option. */
type Entry = { status: number; retryable: boolean | 'depends'; when: string };

export const catalog = {
  // Codes everywhere
  internal: {
    status: 500,
    retryable: true,
    when: "Fault on the service's side; retry, and if it persists send feedback with the request_id",
  },
  provider_error: {
    status: 502,
    retryable: 'depends',
    when: 'An outside service failed; the message names the part of the platform, never the provider',
  },
  plan_limit: { status: 402, retryable: false, when: 'Plan cap or the size of what was sent' },
  rate_limited: { status: 429, retryable: true, when: 'Cap on frequency' },
  // The request
  unauthorized: { status: 401, retryable: false, when: 'No token or unknown token' },
  access_denied: { status: 403, retryable: false, when: 'Owner refused the access request' },
  owner_only: { status: 403, retryable: false, when: 'Collaborator asked for an owner-only act' },
  domain_not_the_owners: { status: 403, retryable: false, when: 'Domain and site belong to different accounts' },
  not_found: { status: 404, retryable: false, when: 'No such thing, or none the caller may see' },
  invalid_json: { status: 400, retryable: false, when: 'Body is not valid JSON for the endpoint' },
  body_too_large: { status: 400, retryable: false, when: 'Body over 1 MiB' },
  invalid_cursor: { status: 400, retryable: false, when: 'Cursor not from an earlier next_cursor' },
  invalid_limit: { status: 400, retryable: false, when: "Limit outside the call's range" },
  invalid_since: { status: 400, retryable: false, when: 'Since not an RFC 3339 timestamp' },
  invalid_period: { status: 400, retryable: false, when: 'Period not reported on by the call' },
  invalid_query: { status: 400, retryable: false, when: 'Query missing or empty' },
  invalid_format: { status: 400, retryable: false, when: 'Format not written by the call' },
  invalid_scope: { status: 400, retryable: false, when: 'Scope not published by the call' },
  invalid_status: { status: 400, retryable: false, when: 'Status not filtered on by the call' },
  nothing_to_update: { status: 400, retryable: false, when: 'Body asks for no change' },
  not_a_person: { status: 400, retryable: false, when: 'Challenge not solved, or not on this page' },
  invalid_origin: { status: 400, retryable: false, when: 'Call came from a page the surface does not serve' },
  // Sign-in and tokens
  auth_disabled: { status: 503, retryable: false, when: 'Email sign-in is off' },
  signin_unavailable: { status: 410, retryable: false, when: 'Owner approved and no account exists for the email' },
  invalid_email: { status: 400, retryable: false, when: 'Not a plain valid address' },
  expired: { status: 410, retryable: false, when: 'Access request ran out before the owner answered' },
  already_redeemed: { status: 410, retryable: false, when: 'That sign-in is finished' },
  not_a_grant: { status: 409, retryable: false, when: 'The subscription was paid for, not granted' },
  current_token: { status: 409, retryable: false, when: 'A token cannot revoke itself' },
  invalid_expiry: { status: 400, retryable: false, when: 'Expires_at not in the future' },
  invalid_name: { status: 400, retryable: false, when: 'A name is missing or empty' },
  // Sites and collaborators
  invalid_title: { status: 400, retryable: false, when: 'Title missing or too long' },
  invalid_template: { status: 400, retryable: false, when: 'No template of that name' },
  invalid_return_path: { status: 400, retryable: false, when: 'Return path not served by the site' },
  site_archived: { status: 409, retryable: false, when: 'Site archived' },
  no_repositories: { status: 503, retryable: false, when: 'Deployment holds no repository root' },
  invitations_unavailable: { status: 503, retryable: false, when: 'Deployment cannot send email' },
  invalid_invitation: { status: 400, retryable: false, when: 'Invitation link not written by the platform' },
  invitation_accepted: { status: 409, retryable: false, when: 'Invitation already taken' },
  email_taken: { status: 409, retryable: false, when: 'Another account uses that email' },
  // Source, publishing and deployments
  publish_disabled: { status: 503, retryable: false, when: 'No build capacity; upload built output instead' },
  no_source: { status: 409, retryable: false, when: 'Site has no source; push to its git repository' },
  no_live_version: { status: 409, retryable: false, when: 'Posts need a live site; publish the site' },
  no_live_source: { status: 409, retryable: false, when: 'Live version not built from the held source' },
  build_failed: { status: 422, retryable: false, when: 'Site did not build; detail holds the log' },
  build_timeout: { status: 422, retryable: false, when: 'Build stopped for taking too long; detail holds the log' },
  invalid_redirects: { status: 400, retryable: false, when: 'Redirect rules unusable' },
  missing_asset: { status: 409, retryable: false, when: 'An image the site uses is gone from storage' },
  invalid_manifest: { status: 400, retryable: false, when: 'Manifest empty, too large, or names an unserved path' },
  invalid_path: { status: 400, retryable: false, when: 'A path the platform does not store' },
  invalid_file: { status: 400, retryable: false, when: 'Bytes are not a file the platform stores' },
  hash_mismatch: { status: 400, retryable: false, when: 'Bytes do not hash to the hash in the URL' },
  size_mismatch: { status: 400, retryable: false, when: 'Bytes differ from the manifest length' },
  upload_incomplete: { status: 409, retryable: false, when: 'Files named by the manifest have not arrived' },
  not_accepting_uploads: { status: 409, retryable: false, when: 'Deployment is past the stage that takes files' },
  superseded: { status: 409, retryable: false, when: 'A newer deployment is live; create a new one' },
  not_restorable: { status: 409, retryable: false, when: 'Files not in the archive; deploy from source' },
  unarchived_content: {
    status: 409,
    retryable: 'depends',
    when: 'Files missing from the archive; the same call fixes it on a publish, not on a restore',
  },
  storage_error: { status: 502, retryable: true, when: 'Temporary storage problem' },
  invalid_slot: {
    status: 400,
    retryable: false,
    when: 'No preview slot of that number; of bookings, a start that is not offered any more',
  },
  // Previews
  preview_disabled: { status: 503, retryable: false, when: 'Deployment cannot serve previews' },
  preview_empty: { status: 409, retryable: false, when: 'Slot holds no draft yet' },
  preview_expired: { status: 410, retryable: false, when: 'Preview marked for removal; create a new one' },
  preview_holds_work: { status: 409, retryable: false, when: 'Slot holds work that is not on the site' },
  slot_empty: { status: 409, retryable: false, when: 'No draft to act on' },
  slot_not_branched: { status: 409, retryable: false, when: 'Slot has no work of its own' },
  draft_behind: { status: 409, retryable: false, when: 'Site moved on since the draft was built' },
  draft_conflict: { status: 409, retryable: false, when: 'Site and slot changed the same files' },
  // Domains
  invalid_domain: { status: 400, retryable: false, when: 'Name cannot be held' },
  invalid_mode: { status: 400, retryable: false, when: 'Mode not served' },
  invalid_record: { status: 400, retryable: false, when: 'DNS record not written by the platform' },
  record_rejected: { status: 400, retryable: false, when: 'DNS provider refused the record' },
  records_not_managed: { status: 409, retryable: false, when: "Platform does not hold the domain's DNS" },
  cname_unavailable: { status: 503, retryable: false, when: 'CNAME target not ready' },
  domain_taken: { status: 409, retryable: false, when: 'Another account holds it' },
  domain_unavailable: { status: 409, retryable: false, when: 'Name not given out by the platform' },
  domain_not_active: { status: 409, retryable: false, when: 'Domain not serving yet' },
  attach_blocked: { status: 409, retryable: false, when: 'Something stops a site going on the domain' },
  check_unavailable: { status: 503, retryable: true, when: 'Check could not run for a moment' },
  // Comments
  invalid_body: { status: 400, retryable: false, when: 'Comment missing or too long' },
  no_storage: { status: 400, retryable: false, when: 'Deployment cannot store a screenshot' },
  note_too_long: { status: 400, retryable: false, when: 'Note over 500 characters' },
  // Forms
  forms_disabled: { status: 503, retryable: false, when: 'Forms off' },
  invalid_fields: { status: 400, retryable: false, when: 'A field missing, repeated, or of an unaccepted kind' },
  invalid_notify_to: { status: 400, retryable: false, when: 'Not a plain valid address' },
  notify_to_not_on_site: { status: 400, retryable: false, when: 'Address not held by the site' },
  form_fields_removed: { status: 409, retryable: false, when: 'Change drops fields that carry submissions' },
  form_has_submissions: {
    status: 409,
    retryable: false,
    when: 'Form holds submissions, so it cannot be changed that way',
  },
  // Bookings
  bookings_unavailable: {
    status: 503,
    retryable: false,
    when: 'Bookings off, or the site takes none; stop and hide the form',
  },
  invalid_timetable: { status: 400, retryable: false, when: 'Timetable names no calendar or no service' },
  invalid_calendar: { status: 400, retryable: false, when: "Name one of the service's calendar_keys" },
  invalid_service: { status: 400, retryable: false, when: 'Name a service the site offers' },
  invalid_visitor: { status: 400, retryable: false, when: 'Name, address or intake field missing or wrong' },
  slot_taken: { status: 409, retryable: false, when: 'Time taken; read the slots again' },
  not_cancellable: { status: 409, retryable: false, when: 'Booking not live: hold ran out or already cancelled' },
  payments_unavailable: { status: 400, retryable: false, when: 'Timetable asks for money and the site takes none' },
  nothing_paid: { status: 409, retryable: false, when: 'Nobody paid, nothing to give back' },
  confirm_required: { status: 409, retryable: false, when: 'The call changes something the caller has not confirmed' },
  // Payments and payouts
  payouts_disabled: { status: 501, retryable: false, when: 'Deployment cannot take money for a site owner' },
  payouts_unavailable: { status: 503, retryable: false, when: 'No sealing key on the deployment' },
  payout_rail_unavailable: { status: 501, retryable: false, when: 'That way of taking money is not offered' },
  invalid_payout_account: { status: 400, retryable: false, when: 'Payout account in the request unusable' },
  no_payout_account: { status: 409, retryable: false, when: 'Site takes no money yet' },
  payout_account_pending: { status: 409, retryable: false, when: 'Provider will not let the account take money yet' },
  payout_account_no_currency: { status: 409, retryable: false, when: "Provider has not said the account's currency" },
  payout_account_gone: { status: 409, retryable: false, when: 'Account the money went into is not used any more' },
  payout_key_unreadable: { status: 502, retryable: false, when: 'Platform can no longer read the held key' },
  invalid_payment: { status: 400, retryable: false, when: 'Payment cannot be opened by the site' },
  invalid_payout_offer: { status: 400, retryable: false, when: 'Offer unusable' },
  offer_expired: { status: 409, retryable: false, when: 'Offer ran out' },
  offer_already_accepted: { status: 409, retryable: false, when: 'Both parties agreed already' },
  not_yours_to_answer: {
    status: 409,
    retryable: false,
    when: 'This account opened the offer; the other party answers',
  },
  // Billing
  billing_disabled: { status: 501, retryable: false, when: 'Nothing metered, no payment required' },
  invalid_plan: { status: 400, retryable: false, when: 'No plan of that name' },
  plan_unavailable: { status: 501, retryable: false, when: 'Plan not purchasable here' },
  already_subscribed: { status: 409, retryable: false, when: 'Already on that plan' },
  no_billing_history: { status: 409, retryable: false, when: 'No completed payment, so no portal' },
  paid_subscription_active: {
    status: 409,
    retryable: false,
    when: 'Cancel the paid subscription before granting a plan',
  },
  // Photos, uploads and sketches
  photos_disabled: { status: 503, retryable: false, when: 'No stock library configured' },
  photos_busy: { status: 503, retryable: true, when: 'The library is capping the whole platform; wait a minute' },
  invalid_photo: { status: 400, retryable: false, when: 'No photo of that id' },
  uploads_disabled: { status: 503, retryable: false, when: 'Deployment cannot store files or has no browser origin' },
  invalid_upload: { status: 400, retryable: false, when: 'Upload in the request unusable' },
  stale_hash: { status: 409, retryable: false, when: 'File changed while being stored; send it again' },
  sketches_disabled: { status: 503, retryable: false, when: 'Deployment cannot host sketches' },
  invalid_sketches: { status: 400, retryable: false, when: 'A direction lacks something it needs' },
  // Analytics and feedback
  analytics_disabled: { status: 503, retryable: false, when: 'Analytics off' },
  invalid_kind: { status: 400, retryable: false, when: 'Feedback kind not filed by the platform' },
  invalid_message: { status: 400, retryable: false, when: 'Feedback message missing' },
  message_too_long: { status: 400, retryable: false, when: 'Feedback message over the limit' },
  context_too_large: { status: 400, retryable: false, when: 'Feedback context over the limit' }, // Conventions of this service
  idempotency_mismatch: { status: 409, retryable: false, when: 'Idempotency-Key was used with another body' },
  frozen_file: { status: 409, retryable: false, when: 'Change touches a file that the platform keeps' },
  crosses_repositories: { status: 400, retryable: false, when: 'Batch touches the source and the content repository' },
  format_not_allowed: { status: 400, retryable: false, when: 'File is of a format that this place does not take' },
  already_invited: { status: 409, retryable: false, when: 'Address has an open or expired invitation to the site' },
  invalid_input: {
    status: 400,
    retryable: false,
    when: 'Query parameter, header or part of the path is unknown or wrong',
  },
  method_not_allowed: { status: 405, retryable: false, when: 'Path exists and does not answer this method' },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalog;

export type ErrorOptions = {
  /** The remedy in plain language, naming the call to make. Left out when no call mends it. */
  nextAction?: string;
  /** The build log; for build failures alone. */
  detail?: string;
  /** For codes whose catalog entry says `'depends'`. */
  retryable?: boolean;
  /** Seconds until a retry can succeed; sent as `retry-after`. */
  retryAfterSeconds?: number;
  /** What went wrong underneath: logged, never sent. */
  cause?: unknown;
};

/** The body of every error answer, inside `{ "error": … }`. */
export type ErrorBody = {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  next_action?: string;
  request_id?: string;
  detail?: string;
};

/** An expected failure with a code of the catalog. Its message is written to be relayed to an owner. */
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

/** One constructor per code: `throw errors.not_found('No site of that id is yours to see.')`. */
export const errors = Object.fromEntries(
  (Object.keys(catalog) as ErrorCode[]).map((code) => [
    code,
    (message: string, options?: ErrorOptions) => new AppError(code, message, options),
  ]),
) as Constructors;
