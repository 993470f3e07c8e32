/** Every error code, with the status and the retryable that callers were promised. */
import { codeRows, rowsOf } from './row.ts';

const publishing = rowsOf('code', 'publish', {
  'internal 500 yes': ['api/errors', 'what fails unexpectedly is internal with the request id'],
  'plan_limit 402 no': ['api/sites', 'the cap on sites holds under calls at once'],
  'rate_limited 429 yes': ['api/rate-limits', 'a token passes exactly as often as its limit says'],
  'unauthorized 401 no': ['api/tokens', '%s is unauthorized'],
  'not_found 404 no': ['api/errors', 'an address that nothing stands at is not_found'],
  'invalid_json 400 no': ['api/errors', 'a body of %s is invalid_json'],
  'body_too_large 400 no': ['api/errors', 'a body over 1 MiB is body_too_large'],
  'invalid_cursor 400 no': ['api/pages', 'of another list, or of another account is invalid_cursor'],
  'invalid_limit 400 no': ['api/errors', 'GET %s is %s'],
  'invalid_scope 400 no': ['acceptance/publishing', 'a scope that is not known is refused'],
  'nothing_to_update 400 no': ['api/sites', 'title and name change, and the address with the name'],
  'current_token 409 no': ['api/tokens', 'a token cannot revoke itself'],
  'invalid_expiry 400 no': ['api/tokens', 'an expiry has to be in the future'],
  'invalid_name 400 no': ['api/sites', 'the name %s is invalid_name'],
  'invalid_title 400 no': ['api/errors', '%s %s with %j is %s'],
  'invalid_template 400 no': ['api/errors', '%s %s with %j is %s'],
  'site_archived 409 no': ['api/sites', 'an archived site can be read, takes no change'],
  'no_repositories 503 no': ['api/sites', 'without repositories no site is made'],
  'publish_disabled 503 no': ['api/capabilities', 'each capability that is off has its own code'],
  'no_source 409 no': ['acceptance/publishing', 'a site whose source is gone says so'],
  'no_live_version 409 no': ['acceptance/publishing', 'posts need a live site'],
  'build_failed 422 no': ['acceptance/publishing', 'a build that fails says why with its log'],
  'build_timeout 422 no': ['publishing/hostile-builds', 'that never ends is ended at its time'],
  'invalid_path 400 no': ['git/rules', 'by the API, with the same rule'],
  'invalid_file 400 no': ['git/rules', 'by the API, with the same rule'],
  'superseded 409 no': ['output/completing', 'that something newer overtakes while it is completed'],
  'not_restorable 409 no': ['acceptance/publishing', 'what was never live cannot be restored'],
  'unarchived_content 409 depends': ['publishing/lost-bytes', 'whose bytes are lost is unarchived_content'],
  'storage_error 502 yes': ['publishing/lost-bytes', 'is a storage_error that may pass'],
  'idempotency_mismatch 409 no': ['api/idempotency', 'another body under the same key is idempotency_mismatch'],
  'frozen_file 409 no': ['git/rules', 'by the API, with the same rule'],
  'crosses_repositories 400 no': ['git/rules', 'by the API, with the same rule'],
  'format_not_allowed 400 no': ['git/rules', 'by the API, with the same rule'],
  'invalid_input 400 no': ['api/errors', 'GET %s is %s'],
  'method_not_allowed 405 no': ['api/errors', 'a method that an address does not have is refused with those it has'],
});

const signIn = rowsOf('code', 'people', {
  'access_denied 403 no': ['people/access-requests', 'the owner refuses without a code'],
  'auth_disabled 503 no': ['people/asking', 'without email sign-in both calls and all pages'],
  'signin_unavailable 410 no': ['people/access-requests', 'is signin_unavailable where no account is opened'],
  'invalid_email 400 no': ['people/asking', 'a request with %s is refused'],
  'expired 410 no': ['people/access-requests', 'a request runs out after 15 minutes'],
  'already_redeemed 410 no': ['people/access-requests', 'a request is redeemed once'],
  'email_taken 409 no': ['people/address', 'the address of another account is email_taken at the call'],
});

const collaborators = rowsOf('code', 'people', {
  'owner_only 403 no': ['invitations/invitations', 'with owner_only'],
  'invitations_unavailable 503 no': ['invitations/limits', 'cannot send mail cannot invite'],
  'invalid_invitation 400 no': ['invitations/invitations', 'is invalid_invitation'],
  'invitation_accepted 409 no': ['invitations/invitations', 'who is on the site is not invited again'],
  'already_invited 409 no': ['invitations/invitations', 'a second call says which to withdraw'],
});

const output = rowsOf('code', 'material', {
  'no_live_source 409 no': ['output/completing', 'a site whose live version was uploaded has no live source'],
  'invalid_manifest 400 no': ['output/refused', 'a manifest with %s is invalid_manifest'],
  'hash_mismatch 400 no': ['output/refused', 'other bytes than the path says are hash_mismatch'],
  'size_mismatch 400 no': ['output/refused', 'other lengths than the manifest says size_mismatch'],
  'upload_incomplete 409 no': ['output/upload', 'a manifest comes in parts, and what is missing can be read'],
  'not_accepting_uploads 409 no': ['output/upload', 'completing again answers the same version, and it takes no more'],
  'uploads_disabled 503 no': ['output/refused', 'where no files are taken the calls say so'],
  'sketches_disabled 503 no': ['sketches/sketches', 'where no sketches are hosted the calls say so'],
  'invalid_sketches 400 no': ['sketches/sketches', 'a sketch with %s is invalid_sketches'],
  'invalid_redirects 400 no': ['redirects/serving', 'rules that cannot be used are invalid_redirects'],
});

const material = rowsOf('code', 'material', {
  'provider_error 502 depends': ['material/photos', 'of a library that is %s is %s, in our words'],
  'invalid_query 400 no': ['material/photos', 'whose query is %s is invalid_query'],
  'missing_asset 409 no': ['material/assets', 'a file whose bytes are gone from storage is missing_asset'],
  'photos_disabled 503 no': ['material/photos', 'without a library the calls are photos_disabled'],
  'photos_busy 503 yes': ['material/photos', 'asks the library 200 times in any hour for the whole platform'],
  'invalid_photo 400 no': ['material/photos', 'of an unknown id is invalid_photo'],
  'invalid_upload 400 no': ['material/uploads', 'for %s is invalid_upload'],
  'stale_hash 409 no': ['material/assets', 'that others change while it is being stored is stale_hash'],
});

const comments = rowsOf('code', 'comments', {
  'invalid_status 400 no': ['comments/threads', 'a status that is not filtered on is invalid_status'],
  'invalid_body 400 no': ['comments/threads', 'a body that is missing, empty or over 4,000 characters is invalid_body'],
  'no_storage 400 no': ['comments/pictures', 'without storage a picture is no_storage'],
  'note_too_long 400 no': ['comments/threads', 'a note over 500 characters is note_too_long'],
});

const news = rowsOf('code', 'show', {
  'invalid_period 400 no': ['analytics/reading', 'period=%s is invalid_period'],
  'analytics_disabled 503 no': ['analytics/reading', 'where analytics are off the call says so'],
  'invalid_since 400 no': ['inbox/inbox', 'since=%s is invalid_since'],
});

const previews = rowsOf('code', 'previews', {
  'invalid_slot 400 no': ['previews/previews', 'is one of those the plan has'],
  'preview_disabled 503 no': ['previews/off', 'without previews every call is preview_disabled'],
  'preview_empty 409 no': ['previews/previews', 'whose first draft is being built says so, holds none yet'],
  'preview_expired 410 no': ['previews/expiry', 'a draft is marked 14 days after its last build'],
  'preview_holds_work 409 no': ['previews/previews', 'work that is not on the site is preview_holds_work'],
  'slot_empty 409 no': ['previews/previews', 'that is empty has nothing to act on: slot_empty'],
  'slot_not_branched 409 no': ['previews/previews', 'without a branch of its own has nothing to update or publish'],
  'draft_behind 409 no': ['previews/publishing', 'is draft_behind when the site has moved'],
  'draft_conflict 409 no': ['previews/publishing', 'of files that both changed is draft_conflict, names them'],
});

const bookings = rowsOf('code', 'visitors', {
  'bookings_unavailable 503 no': ['bookings/bookable', 'where bookings are switched off, every call says so'],
  'invalid_timetable 400 no': ['bookings/bookable', 'is refused, and where it is wrong is said'],
  'invalid_calendar 400 no': ['bookings/taking', 'a service with several calendars is booked in the one that is named'],
  'invalid_service 400 no': ['bookings/refused', 'days and slots of what is not there'],
  'invalid_visitor 400 no': ['bookings/refused', 'every fault of a visitor is told at once'],
  'slot_taken 409 no': ['bookings/taking', 'seats run out exactly'],
  'not_cancellable 409 no': ['bookings/cancelling', 'a booking that was cancelled cannot be cancelled again'],
  'payments_unavailable 400 no': ['bookings/refused', 'what costs money is not booked where the site takes none'],
  'confirm_required 409 no': ['bookings/bookable', 'a site stops taking bookings only confirmed'],
});

const formCodes = rowsOf('code', 'visitors', {
  'invalid_format 400 no': ['forms/limits', 'submissions come newest first, in pages'],
  'not_a_person 400 no': ['forms/sending', 'a script without the challenge'],
  'invalid_origin 400 no': ['forms/sending', 'pages of the site and of ours may send'],
  'invalid_return_path 400 no': ['forms/sending', '_return leads to a path of the site alone'],
  'forms_disabled 503 no': ['forms/limits', 'without a challenge key the platform takes no forms'],
  'invalid_fields 400 no': ['forms/forms', 'a form with %s is refused'],
  'invalid_notify_to 400 no': ['forms/forms', 'a form with %s is refused'],
  'notify_to_not_on_site 400 no': ['forms/forms', 'notify_to is one of the addresses of the site'],
  'form_fields_removed 409 no': ['forms/forms', 'fields that have answers stay'],
  'form_has_submissions 409 no': ['forms/forms', 'fields that have answers stay'],
});

const payments = rowsOf('code', 'money', {
  'nothing_paid 409 no': ['payments/refunds', 'of what nobody paid is nothing_paid'],
  'no_payout_account 409 no': ['payments/payments', 'has to be said first'],
  'payout_account_pending 409 no': ['payments/payments', 'has to be said first'],
  'payout_account_no_currency 409 no': ['payments/payments', 'has to be said first'],
  'payout_account_gone 409 no': ['payments/refunds', 'through an account that is gone'],
  'payout_key_unreadable 502 no': ['payments/refunds', 'with a key that cannot be read'],
  'invalid_payment 400 no': ['payments/payments', 'and not %d %s'],
});

const payouts = rowsOf('code', 'money', {
  'payouts_disabled 501 no': ['payouts/off', 'a platform without payouts says so'],
  'payouts_unavailable 503 no': ['payouts/off', 'a platform without a sealing key takes no keys'],
  'payout_rail_unavailable 501 no': ['payouts/off', 'a rail that is off is payout_rail_unavailable'],
  'invalid_payout_account 400 no': ['payouts/accounts', 'a key and a rail, neither, or of the wrong type'],
  'invalid_payout_offer 400 no': ['payouts/offers', 'a site has one open offer: a second by the same side'],
  'offer_expired 409 no': ['payouts/offers', 'an offer is over after 14 days for every reader'],
  'offer_already_accepted 409 no': [
    'payouts/offers',
    'an offer is answered by the party that did not open it, and once',
  ],
  'not_yours_to_answer 409 no': ['payouts/offers', 'an offer is answered by the party that did not open it, and once'],
});

const billing = rowsOf('code', 'money', {
  'billing_disabled 501 no': ['billing/billing', 'where nothing is metered every call is billing_disabled'],
  'invalid_plan 400 no': ['billing/billing', 'that is not in the catalog is invalid_plan'],
  'plan_unavailable 501 no': ['billing/billing', 'one that is not sold plan_unavailable'],
  'already_subscribed 409 no': ['billing/billing', 'the own one already_subscribed'],
  'no_billing_history 409 no': ['billing/billing', 'before, no_billing_history'],
  'not_a_grant 409 no': ['billing/grants', 'what was paid for is not_a_grant'],
  'paid_subscription_active 409 no': ['billing/grants', 'is paid_subscription_active'],
});

const domains = rowsOf('code', 'domains', {
  'domain_not_the_owners 403 no': ['domains/attaching', 'is of another account, takes none'],
  'invalid_domain 400 no': ['domains/holding', 'what is no name that was registered is invalid_domain'],
  'invalid_mode 400 no': ['domains/onboarding', 'an unknown mode, and one that is off, is invalid_mode'],
  'invalid_record 400 no': ['domains/records', '200 and more hostile records are invalid_record'],
  'record_rejected 400 no': ['domains/records', 'what the name server itself refuses is record_rejected'],
  'records_not_managed 409 no': [
    'domains/records',
    'records of a domain whose DNS is elsewhere are records_not_managed',
  ],
  'cname_unavailable 503 no': ['domains/holding', 'where what domains point at is not there'],
  'domain_taken 409 no': ['domains/holding', 'a name at or below one that another account holds is domain_taken'],
  'domain_unavailable 409 no': ['domains/holding', 'names of ours, public suffixes and reserved names'],
  'domain_not_active 409 no': ['domains/attaching', 'a domain that does not lead here, serves another site'],
  'attach_blocked 409 no': ['domains/attaching', 'a domain that does not lead here, serves another site'],
  'check_unavailable 503 yes': ['domains/holding', 'a check that cannot ask says so'],
});

const agents = rowsOf('code', 'agents', {
  'invalid_kind 400 no': ['feedback/feedback', 'a note that cannot be filed says why'],
  'invalid_message 400 no': ['feedback/feedback', 'a note that cannot be filed says why'],
  'message_too_long 400 no': ['feedback/feedback', 'a note that cannot be filed says why'],
  'context_too_large 400 no': ['feedback/feedback', 'a note that cannot be filed says why'],
});

export const codes = codeRows([
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
]);
