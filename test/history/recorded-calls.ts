/** What each changing call of the API writes to the history. A new call stands here before its test passes. */
import type { Action } from '#rules/history.ts';

/** The first actions that a success records; or why it records none. */
export const recordedCalls: Record<string, Action[] | string> = {
  'POST /v1/auth/requests': 'it changes nothing until the owner approves',
  'POST /v1/auth/requests/{id}/redeem': ['token.created'],
  'PATCH /v1/account': ['account.updated'],
  'POST /v1/billing/checkout': ['plan.checkout_started'],
  'POST /v1/billing/portal': 'it opens a page of the provider',
  'POST /v1/feedback': 'it is a message to the operator',
  'POST /v1/inbox/done': 'it changes what one account reads',
  'POST /v1/tokens': ['token.created'],
  'PATCH /v1/tokens/{id}': ['token.renamed'],
  'DELETE /v1/tokens/{id}': ['token.revoked'],
  'POST /v1/tokens/{id}/rotate': ['token.rotated'],
  'POST /v1/sketches': ['sketch.created'],
  'DELETE /v1/sketches/{id}': ['sketch.removed'],
  'POST /v1/photos/search': 'it reads',
  'POST /v1/deployments/{id}/checks': 'it reads',

  'POST /v1/sites': ['site.created'],
  'PATCH /v1/sites/{id}': ['site.updated'],
  'POST /v1/sites/{id}/archive': ['site.archived'],
  'POST /v1/sites/{id}/unarchive': ['site.unarchived'],

  'DELETE /v1/sites/{id}': ['site.deleted'],
  'POST /v1/sites/{id}/restore-site': ['site.restored'],

  'POST /v1/sites/{id}/collaborators': ['invitation.created'],
  'DELETE /v1/sites/{id}/collaborators/{account_id}': ['collaborator.removed'],
  'DELETE /v1/sites/{id}/collaborators/me': ['collaborator.left'],
  'DELETE /v1/sites/{id}/invitations/{invitation_id}': ['invitation.withdrawn'],
  'DELETE /v1/invitations/{id}': ['invitation.declined'],
  'POST /v1/invitations/{id}/accept': ['invitation.accepted'],

  'POST /v1/sites/{id}/git-credentials': ['git_credential.created'],
  'DELETE /v1/git-credentials/{id}': ['git_credential.revoked'],
  'POST /v1/sites/{id}/commits': ['repository.committed'],
  'PUT /v1/sites/{id}/assets/{path}': ['repository.committed'],
  'POST /v1/sites/{id}/photos': ['repository.committed'],
  'POST /v1/sites/{id}/uploads': ['upload_link.created'],
  'DELETE /v1/uploads/{id}': ['upload_link.revoked'],
  'PUT /v1/sites/{id}/redirects': ['redirects.replaced'],

  'POST /v1/account/payout-accounts': ['payout_account.added'],
  'PATCH /v1/account/payout-accounts/{id}': ['payout_account.renamed'],
  'DELETE /v1/account/payout-accounts/{id}': ['payout_account.removed'],
  'POST /v1/account/payout-accounts/{id}/key': ['payout_account.key_replaced'],
  'POST /v1/account/payout-accounts/{id}/onboarding': ['payout_account.onboarding_started'],
  'POST /v1/account/payout-accounts/{id}/offers': ['payout_offer.created'],
  'DELETE /v1/payout-offers/{id}': ['payout_offer.ended'],
  'POST /v1/payout-offers/{id}/accept': ['payout_offer.accepted'],
  'POST /v1/sites/{id}/payout-offers': ['payout_offer.created'],
  'POST /v1/sites/{id}/payout-account': ['payout_agreement.started'],
  'DELETE /v1/sites/{id}/payout-account': ['payout_agreement.ended'],

  'POST /v1/sites/{id}/forms': ['form.created'],
  'PATCH /v1/forms/{id}': ['form.updated'],
  'DELETE /v1/forms/{id}': ['form.deleted'],
  'POST /v1/forms/{id}/disable': ['form.disabled'],
  'POST /v1/forms/{id}/enable': ['form.enabled'],
  'PATCH /v1/submissions/{id}': ['submission.marked'],
  'DELETE /v1/submissions/{id}': ['submission.deleted'],
  'POST /f/{form_id}': 'it is an act of a visitor',

  'POST /v1/domains': ['domain.added'],
  'DELETE /v1/domains/{id}': ['domain.removed'],
  'POST /v1/domains/{id}/check': 'it reads the DNS',
  'POST /v1/domains/{id}/attach': ['domain.attached'],
  'POST /v1/domains/{id}/detach': ['domain.detached'],
  'POST /v1/domains/{id}/records': ['domain_record.added'],
  'DELETE /v1/domains/{id}/records/{record_id}': ['domain_record.removed'],

  'POST /v1/sites/{id}/bookable': ['timetable.replaced'],
  'PATCH /v1/sites/{id}/bookable': ['timetable.updated'],
  'DELETE /v1/sites/{id}/bookable': ['timetable.removed'],
  'POST /v1/sites/{id}/bookings': ['booking.created'],
  'POST /v1/bookings/{id}/move': ['booking.moved'],
  'POST /v1/bookings/{id}/cancel': ['booking.cancelled'],
  'POST /b/{public_id}': 'it is an act of a visitor',
  'POST /v1/sites/{id}/payments': ['payment.created'],
  'POST /v1/payments/{id}/expire': ['payment.expired'],
  'POST /v1/payments/{id}/refund': ['payment.refunded'],

  'POST /v1/sites/{id}/comments': 'the thread names its author',
  'POST /v1/comments/{id}/reply': 'the thread names the author of each message',
  'POST /v1/sites/{id}/calendar-feeds': ['calendar_feed.created'],
  'DELETE /v1/calendar-feeds/{id}': ['calendar_feed.revoked'],
  'POST /v1/sites/{id}/review-links': ['review_link.created'],
  'DELETE /v1/review-links/{id}': ['review_link.revoked'],

  'POST /v1/sites/{id}/deployments': ['deployment.created'],
  'POST /v1/deployments/{id}/manifest': 'nothing is live until the upload is completed, which is recorded',
  'POST /v1/deployments/{id}/archive': 'nothing is live until the upload is completed, which is recorded',
  'PUT /v1/deployments/{id}/files/{sha256}': 'nothing is live until the upload is completed, which is recorded',
  'POST /v1/deployments/{id}/complete': ['deployment.completed'],
  'POST /v1/deployments/{id}/restore': ['deployment.restored'],
  'POST /v1/sites/{id}/publish': ['site.published'],
  'POST /v1/sites/{id}/previews/{slot}': ['preview.built'],
  'POST /v1/sites/{id}/previews/{slot}/update': ['repository.merged'],
  'POST /v1/sites/{id}/previews/{slot}/publish': ['preview.published'],
  'DELETE /v1/sites/{id}/previews/{slot}': ['preview.cleared'],
};

const [domains, money] = ['test/history/domain-acts.test.ts', 'test/history/money-acts.test.ts'];
const [publishing, access] = ['test/history/publishing-acts.test.ts', 'test/history/access-acts.test.ts'];

/**
 * Calls for which the fixture has no DNS, money or build, or whose resource is already as they make it. What each of
 * them records is shown by the named test.
 */
export const shownElsewhere: Record<string, string> = {
  'POST /v1/sites': 'test/history/history.test.ts',
  'POST /v1/sites/{id}/unarchive': 'test/history/acts.test.ts',
  'POST /v1/forms/{id}/enable': 'test/history/acts.test.ts',
  'DELETE /v1/tokens/{id}': 'test/history/acts.test.ts',
  'POST /v1/domains': domains,
  'POST /v1/domains/{id}/attach': domains,
  'POST /v1/domains/{id}/records': domains,
  'DELETE /v1/domains/{id}/records/{record_id}': domains,
  'POST /v1/account/payout-accounts/{id}/key': money,
  'POST /v1/account/payout-accounts/{id}/offers': money,
  'POST /v1/billing/checkout': money,
  'POST /v1/payments/{id}/refund': money,
  'POST /v1/sites/{id}/payments': money,
  'POST /v1/sites/{id}/payout-account': money,
  'POST /v1/sites/{id}/payout-offers': money,
  'POST /v1/deployments/{id}/complete': publishing,
  'POST /v1/deployments/{id}/restore': publishing,
  'POST /v1/sites/{id}/photos': publishing,
  'POST /v1/sites/{id}/previews/{slot}/publish': publishing,
  'POST /v1/sites/{id}/previews/{slot}/update': publishing,
  'DELETE /v1/sites/{id}/previews/{slot}': publishing,
  'POST /v1/auth/requests/{id}/redeem': access,
  'DELETE /v1/sites/{id}': access,
  'POST /v1/sites/{id}/restore-site': access,
};

/** Calls that succeed without a change: the domain has no site. */
export const unchanging: readonly string[] = ['POST /v1/domains/{id}/detach'];

/** Acts that no call alone makes, with the test that shows what they record. */
export const shownByTest: Partial<Record<Action, string>> = {
  'repository.pushed': 'test/history/acts.test.ts',
  'site.blocked': 'test/history/acts.test.ts',
  'site.unblocked': 'test/history/acts.test.ts',
  'account.blocked': 'test/history/acts.test.ts',
  'account.unblocked': 'test/history/acts.test.ts',
  'account.address_confirmed': 'test/people/address-codes.test.ts',
  'account.address_changed': 'test/people/address-codes.test.ts',
  'account.address_change_stopped': 'test/people/address-codes.test.ts',
  'account.address_change_failed': 'test/people/address-codes.test.ts',
  'account.signin_failed': 'test/history/wrong-codes.test.ts',
  'account.access_request_failed': 'test/history/wrong-codes.test.ts',
  'account.deletion_failed': 'test/history/wrong-codes.test.ts',
  'account.address_change_undone': 'test/people/address-codes.test.ts',
  'account.mails_chosen': 'test/mail/choices.test.ts',
  'account.deleted': 'test/deletion/account.test.ts',
  'account.restored': 'test/deletion/account.test.ts',
  'site.exported': access,
  'site.purged': 'test/deletion/fixture.ts',
  'sketch.chosen': 'test/sketches/choices.test.ts',
  'token.widened': access,
  'comment.resolved': access,
  'comment.reopened': access,
  'domain.blocked': domains,
  'domain.unblocked': domains,
};
