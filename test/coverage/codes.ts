/** Every error code, with the test that provokes it. Statuses are compared with the generated `docs/errors.md`. */
import type { ErrorCode } from '#runtime/errors.ts';
import { rowsOf } from './row.ts';

/** Codes that nobody can provoke over HTTP, each with the reason. */
export const notOverHttp: Partial<Record<ErrorCode, string>> = {
  not_a_grant: 'only an operator’s command returns it: no call ends a granted plan',
  paid_subscription_active: 'only an operator’s command returns it: no call grants a plan',
};

const publishing = rowsOf('code', 'publish', {
  internal: ['api/errors', 'an unexpected failure is internal with its request id; its message is only logged'],
  plan_limit: ['api/sites', 'the cap on sites holds under concurrent calls, and archived sites do not count'],
  rate_limited: ['api/rate-limits', 'a token passes exactly as often as its limit allows, over two processes'],
  unauthorized: ['api/tokens', '%s is unauthorized'],
  not_found: ['api/errors', 'an unknown address is not_found'],
  invalid_json: ['api/errors', 'a body of %s is invalid_json'],
  body_too_large: ['api/errors', 'a body over 1 MiB is body_too_large'],
  invalid_cursor: ['api/pagination', 'of another list, or of another account is invalid_cursor'],
  invalid_limit: ['api/errors', 'GET %s is %s'],
  invalid_scope: ['acceptance/publishing', 'posts need a live site, and an unknown scope is refused'],
  nothing_to_update: ['api/sites', 'title and name change, and the address with the name'],
  current_token: ['api/tokens', 'a token cannot revoke itself'],
  invalid_expiry: ['api/tokens', 'an expiry must be in the future'],
  invalid_name: ['api/sites', 'the name %s is invalid_name'],
  invalid_title: ['api/errors', '%s %s with %j is %s'],
  invalid_template: ['api/errors', '%s %s with %j is %s'],
  site_archived: ['api/sites', 'an archived site can be read and unarchived, and keeps its name'],
  no_repositories: ['api/sites', 'without repositories no site is created'],
  publish_disabled: ['api/capabilities', 'each disabled capability has its own code'],
  no_source: ['acceptance/publishing', 'publishing a site without its source is no_source'],
  no_live_version: ['acceptance/publishing', 'posts need a live site'],
  build_failed: ['acceptance/publishing', 'a failed build says why with its log, and the live version stays'],
  build_timeout: [
    'publishing/hostile-builds',
    'that never ends is stopped at its time limit; the next build goes live',
  ],
  invalid_path: ['git/rules', 'by the API, with the same rule'],
  invalid_file: ['git/rules', 'by the API, with the same rule'],
  superseded: ['output/completing', 'an upload overtaken by a newer version during completion is superseded'],
  not_restorable: ['acceptance/publishing', 'a version that was never live cannot be restored'],
  unarchived_content: ['publishing/lost-bytes', 'restoring a version with lost bytes is unarchived_content with the'],
  storage_error: ['publishing/lost-bytes', 'an unreadable manifest is a temporary storage_error'],
  idempotency_mismatch: ['api/idempotency', 'another body under the same key is idempotency_mismatch'],
  frozen_file: ['git/rules', 'by the API, with the same rule'],
  crosses_repositories: ['git/rules', 'by the API, with the same rule'],
  format_not_allowed: ['git/rules', 'by the API, with the same rule'],
  invalid_input: ['api/errors', 'GET %s is %s'],
  method_not_allowed: ['api/errors', 'an unsupported method is refused, and the response lists the supported ones'],
});

const signIn = rowsOf('code', 'people', {
  access_denied: ['people/access-requests', 'the owner denies without a code, and the agent gets access_denied'],
  auth_disabled: ['people/asking', 'without email sign-in both calls and all pages'],
  signin_unavailable: ['people/access-requests', 'an approval without an account is signin_unavailable if sign-up is'],
  invalid_email: ['people/asking', 'a request with %s is refused'],
  expired: ['people/access-requests', 'a request expires after 15 minutes, for agent and owner'],
  already_redeemed: ['people/access-requests', 'a request is redeemed once'],
  email_taken: ['people/address', 'another account’s address is email_taken at the call'],
});

const collaborators = rowsOf('code', 'people', {
  owner_only: ['invitations/invitations', 'a collaborator’s call for owners is owner_only'],
  invitations_unavailable: ['invitations/limits', 'without mail invitations are refused, but the lists work'],
  invalid_invitation: ['invitations/invitations', 'is invalid_invitation'],
  invitation_accepted: ['invitations/invitations', 'members are not invited again, and accepted invitations are not'],
  already_invited: ['invitations/invitations', 'an address has one open invitation to a site; a second call names it'],
});

const output = rowsOf('code', 'material', {
  no_live_source: ['output/completing', 'a site with an uploaded live version has no live source for posts'],
  invalid_manifest: ['output/refused', 'a manifest with %s is invalid_manifest'],
  hash_mismatch: ['output/refused', 'wrong bytes are hash_mismatch, and a wrong length is size_mismatch'],
  size_mismatch: ['output/refused', 'wrong bytes are hash_mismatch, and a wrong length is size_mismatch'],
  upload_incomplete: ['output/upload', 'a manifest comes in parts, and missing files can be listed at any time'],
  not_accepting_uploads: ['output/upload', 'a repeated completion returns the same version, which accepts no more'],
  uploads_disabled: ['output/refused', 'with uploads disabled the calls are uploads_disabled before validation'],
  sketches_disabled: ['sketches/sketches', 'without sketch hosting the calls are sketches_disabled before validation'],
  invalid_sketches: ['sketches/sketches', 'a sketch with %s is invalid_sketches'],
  invalid_redirects: ['redirects/serving', 'rules that cannot be used are invalid_redirects'],
});

const material = rowsOf('code', 'material', {
  provider_error: ['material/photos', 'in library state %s is %s, in our words, and not cached'],
  invalid_query: ['material/photos', 'whose query is %s is invalid_query'],
  missing_asset: ['material/assets', 'whose bytes are lost is missing_asset, and the same bytes repair it'],
  photos_disabled: ['material/photos', 'without a library the calls are photos_disabled'],
  photos_busy: ['material/photos', 'queries the library at most 200 times an hour in total'],
  invalid_photo: ['material/photos', 'of an unknown id is invalid_photo'],
  invalid_upload: ['material/uploads', 'for %s is invalid_upload'],
  stale_hash: ['material/assets', 'changed by others meanwhile is stale_hash, and theirs stays'],
});

const comments = rowsOf('code', 'comments', {
  invalid_status: ['comments/threads', 'an unknown status is invalid_status, an invalid time invalid_since'],
  invalid_body: ['comments/threads', 'a body that is missing, empty or over 4,000 characters is invalid_body'],
  no_storage: ['comments/pictures', 'without storage a picture is no_storage'],
  note_too_long: ['comments/threads', 'a note over 500 characters is note_too_long'],
});

const news = rowsOf('code', 'show', {
  invalid_period: ['analytics/queries', 'period=%s is invalid_period'],
  analytics_disabled: ['analytics/queries', 'with analytics off, the call is analytics_disabled before any validation'],
  invalid_since: ['inbox/inbox', 'since=%s is invalid_since'],
});

const previews = rowsOf('code', 'previews', {
  invalid_slot: ['previews/previews', 'is one of the plan’s slots, which are listed with their contents'],
  preview_disabled: ['previews/off', 'without previews every call is preview_disabled'],
  preview_empty: ['previews/previews', 'whose first draft is building is preview_empty, and can be cleared'],
  preview_expired: ['previews/expiry', 'drafts expire 14 days after their last build, and are removed a week later'],
  preview_holds_work: ['previews/previews', 'unpublished work is preview_holds_work without discard'],
  slot_empty: ['previews/previews', 'that is empty is slot_empty for every action'],
  slot_not_branched: ['previews/previews', 'without its own branch is slot_not_branched for update and publish'],
  draft_behind: ['previews/publishing', 'is draft_behind if the site has moved, until an update merges it'],
  draft_conflict: ['previews/publishing', 'with conflicting files is draft_conflict, names them, and moves nothing'],
});

const bookings = rowsOf('code', 'visitors', {
  bookings_unavailable: ['bookings/bookable', 'with bookings disabled, every call is bookings_unavailable'],
  invalid_timetable: ['bookings/bookable', 'a timetable with %s is refused with the faulty place'],
  invalid_calendar: ['bookings/taking', 'a service with several calendars is booked in the named one'],
  invalid_service: ['bookings/refused', 'days and time slots of unknown services or invalid dates are refused'],
  invalid_visitor: ['bookings/refused', 'all faults of a visitor’s input are reported together'],
  slot_taken: ['bookings/taking', 'seats run out exactly'],
  not_cancellable: ['bookings/cancelling', 'a cancelled booking cannot be cancelled again, and keeps its time'],
  payments_unavailable: [
    'bookings/refused',
    'without payments a priced service cannot be booked, and its declaration tells the owner',
  ],
  confirm_required: ['bookings/bookable', 'bookings are stopped only after confirmation, and existing bookings and'],
});

const formCodes = rowsOf('code', 'visitors', {
  invalid_format: ['forms/limits', 'submissions are listed newest first, in pages, since a time, for 180 days'],
  not_a_person: ['forms/sending', 'missing, forged and repeated solutions are not_a_person'],
  invalid_origin: ['forms/sending', 'the site’s and our pages may submit; only the site’s scripts read the response'],
  invalid_return_path: ['forms/sending', '_return redirects within the site, and to the thank-you page by default'],
  forms_disabled: ['forms/limits', 'without a challenge key the platform accepts no forms'],
  invalid_fields: ['forms/forms', 'a form with %s is refused'],
  invalid_notify_to: ['forms/forms', 'a form with %s is refused'],
  notify_to_not_on_site: ['forms/forms', 'notify_to is a member’s address, and returns to the owner with the member’s'],
  form_fields_removed: ['forms/forms', 'dropping answered fields is form_fields_removed, renaming or retyping'],
  form_has_submissions: ['forms/forms', 'dropping answered fields is form_fields_removed, renaming or retyping'],
});

const payments = rowsOf('code', 'money', {
  nothing_paid: ['payments/refunds', 'of an unpaid payment is nothing_paid'],
  no_payout_account: ['payments/payments', 'must be chosen and ready, and must have a currency'],
  payout_account_pending: ['payments/payments', 'must be chosen and ready, and must have a currency'],
  payout_account_no_currency: ['payments/payments', 'must be chosen and ready, and must have a currency'],
  payout_account_gone: [
    'payments/refunds',
    'from a removed account is payout_account_gone, and names the place of the money',
  ],
  payout_key_unreadable: ['payments/refunds', 'with an undecryptable key is payout_key_unreadable'],
  invalid_payment: ['payments/payments', '%d %s is refused'],
});

const payouts = rowsOf('code', 'money', {
  payouts_disabled: [
    'payouts/off',
    'without payouts the calls are payouts_disabled before validation, and the account lists nothing',
  ],
  payouts_unavailable: ['payouts/off', 'without a sealing key no keys are accepted: payouts_unavailable'],
  payout_rail_unavailable: ['payouts/off', 'a rail that is off is payout_rail_unavailable'],
  invalid_payout_account: ['payouts/accounts', 'both a key and a rail, neither, or a wrong type is'],
  invalid_payout_offer: ['payouts/offers', 'a site has one open offer or agreement; another is invalid_payout_offer'],
  offer_expired: ['payouts/offers', 'an offer expires after 14 days for every reader, before any write'],
  offer_already_accepted: ['payouts/offers', 'only the other party answers an offer, and once'],
  not_yours_to_answer: ['payouts/offers', 'only the other party answers an offer, and once'],
});

const billing = rowsOf('code', 'money', {
  billing_disabled: ['billing/billing', 'without metering every billing call is billing_disabled, and the configured'],
  invalid_plan: ['billing/billing', 'is invalid_plan if unknown, plan_unavailable if not sold, already_subscribed if'],
  plan_unavailable: ['billing/billing', 'is invalid_plan if unknown, plan_unavailable if not sold, already_subscribed'],
  already_subscribed: ['billing/billing', 'is invalid_plan if unknown, plan_unavailable if not sold'],
  no_billing_history: [
    'billing/billing',
    'is managed on the provider’s page once paid, and is no_billing_history before',
  ],
  not_a_grant: ['billing/grants', 'a paid plan is not_a_grant, and a grant beside it is paid_subscription_active'],
  paid_subscription_active: ['billing/grants', 'is paid_subscription_active'],
});

const domains = rowsOf('code', 'domains', {
  domain_not_the_owners: ['domains/attaching', 'an unproved, foreign or attached domain cannot be attached'],
  invalid_domain: ['domains/holding', 'a name that cannot be registered is invalid_domain, with the reason'],
  invalid_mode: ['domains/onboarding', 'an unknown or disabled mode is invalid_mode'],
  invalid_record: ['domains/records', '200 hostile records are invalid_record with reasons, and the zone is unchanged'],
  record_rejected: ['domains/records', 'records that the name server refuses are record_rejected, and not stored'],
  records_not_managed: ['domains/records', 'records of a domain with DNS elsewhere are records_not_managed'],
  cname_unavailable: ['domains/holding', 'without a configured target, no domain is added in cname mode'],
  domain_taken: ['domains/holding', 'a name at or below another account’s domain is domain_taken, one above is not'],
  domain_unavailable: ['domains/holding', 'our own, public suffix and reserved names are domain_unavailable: %s, …'],
  domain_not_active: ['domains/attaching', 'an unproved, foreign or attached domain cannot be attached'],
  attach_blocked: ['domains/attaching', 'an unproved, foreign or attached domain cannot be attached'],
  check_unavailable: [
    'domains/holding',
    'a check without DNS is check_unavailable and changes nothing; another must wait 5 s',
  ],
});

const agents = rowsOf('code', 'agents', {
  invalid_kind: ['feedback/feedback', 'an invalid note is refused with its reason: %s'],
  invalid_message: ['feedback/feedback', 'an invalid note is refused with its reason: %s'],
  message_too_long: ['feedback/feedback', 'an invalid note is refused with its reason: %s'],
  context_too_large: ['feedback/feedback', 'an invalid note is refused with its reason: %s'],
});

export const codes = [
  ...publishing,
  ...signIn,
  ...collaborators,
  ...output,
  ...material,
  ...comments,
  ...news,
  ...previews,
  ...bookings,
  ...formCodes,
  ...payments,
  ...payouts,
  ...billing,
  ...domains,
  ...agents,
];
