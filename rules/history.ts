/** What a history records: the actions, each with a sentence, and how an actor acted. Pure. */

/** A program with a token, a person in a browser, a git push, or the service itself; the name is the token's. */
export type Via = { kind: 'token' | 'person' | 'git' | 'platform'; name: string | null };

type Described = {
  says: string;
  /** About money, payouts, tokens and passwords: only the owner's account sees it. */
  ownersOnly?: true;
};

const owners = (says: string): Described => ({ says, ownersOnly: true });

/** By name: the kind of the subject, a dot, and what was done to it. */
const described = {
  'site.created': { says: 'Created a site.' },
  'site.updated': { says: 'Changed the title, the name or the colours of a site.' },
  'site.archived': { says: 'Archived a site.' },
  'site.unarchived': { says: 'Put an archived site online again.' },
  'site.deleted': { says: 'Deleted a site.' },
  'site.restored': { says: 'Restored a deleted site.' },
  'site.purged': { says: 'Removed a deleted site for good.' },
  'site.exported': { says: 'Exported a site as an archive.' },
  'site.published': { says: 'Started to publish a new version of a site.' },
  'site.blocked': { says: 'The operator blocked a site.' },
  'site.unblocked': { says: 'The operator unblocked a site.' },
  'deployment.created': { says: 'Started an upload of built output.' },
  'deployment.completed': { says: 'Made an upload of built output live.' },
  'deployment.restored': { says: 'Made an earlier version live again.' },
  'preview.built': { says: 'Requested the build of a draft in a preview slot.' },
  'preview.published': { says: 'Requested the publish of a preview slot.' },
  'preview.cleared': { says: 'Emptied a preview slot.' },
  'repository.committed': { says: 'Changed files of a site.' },
  'repository.pushed': { says: 'Pushed to a repository with git.' },
  'repository.merged': { says: 'Merged main into the branch of a preview slot.' },
  'redirects.replaced': { says: 'Replaced the redirects of a site.' },
  'invitation.created': owners('Invited a person to a site.'),
  'invitation.withdrawn': owners('Withdrew an invitation.'),
  'invitation.accepted': owners('Accepted an invitation to a site.'),
  'invitation.declined': owners('Declined an invitation to a site.'),
  'collaborator.removed': { says: 'Removed a collaborator from a site.' },
  'collaborator.left': { says: 'Left a site.' },
  'domain.added': { says: 'Added a domain to an account.' },
  'domain.removed': { says: 'Removed a domain from an account.' },
  'domain.attached': { says: 'Attached a domain to a site.' },
  'domain.detached': { says: 'Detached a domain from a site.' },
  'domain_record.added': { says: 'Added a DNS record.' },
  'domain_record.removed': { says: 'Removed a DNS record.' },
  'upload_link.created': { says: 'Created an upload link.' },
  'upload_link.revoked': { says: 'Revoked an upload link.' },
  'review_link.created': { says: 'Created a review link.' },
  'review_link.revoked': { says: 'Revoked a review link.' },
  'form.created': { says: 'Created a form.' },
  'form.updated': { says: 'Changed a form.' },
  'form.disabled': { says: 'Closed a form.' },
  'form.enabled': { says: 'Reopened a form.' },
  'form.deleted': { says: 'Deleted a form with its submissions.' },
  'submission.marked': { says: 'Marked a message as spam, or as not spam.' },
  'submission.deleted': { says: 'Deleted a message.' },
  'timetable.replaced': { says: 'Set the calendars and services of a site.' },
  'timetable.updated': { says: 'Changed where e-mails about bookings go, or the text for visitors without scripts.' },
  'timetable.removed': { says: 'Stopped accepting bookings.' },
  'booking.created': { says: 'Added a booking, or blocked time in a calendar.' },
  'booking.moved': { says: 'Moved a booking or a block to another time.' },
  'booking.cancelled': { says: 'Cancelled a booking or a block.' },
  'calendar_feed.created': { says: 'Created a calendar feed of the bookings of a site.' },
  'calendar_feed.revoked': { says: 'Revoked a calendar feed.' },
  'comment.resolved': { says: 'Resolved a comment thread.' },
  'comment.reopened': { says: 'Reopened a comment thread.' },
  'sketch.created': { says: 'Created a sketch.' },
  'sketch.chosen': { says: 'Chose a direction of a sketch on its page.' },
  'sketch.removed': { says: 'Removed a sketch.' },
  'domain.blocked': { says: 'The operator blocked a domain.' },
  'domain.unblocked': { says: 'The operator unblocked a domain.' },
  'account.updated': { says: 'Changed the name of the account, asked for another address, or withdrew that.' },
  'account.address_confirmed': { says: 'The old mailbox confirmed a change of the address.' },
  'account.address_changed': {
    says: 'The account has a new address, which both mailboxes confirmed or the operator set.',
  },
  'account.address_change_stopped': { says: 'The old mailbox stopped a change of the address.' },
  'account.address_change_failed': { says: 'Five wrong codes ended a change of the address.' },
  'account.signin_failed': { says: 'Five wrong codes ended a sign-in.' },
  'account.access_request_failed': { says: 'Five wrong codes ended an access request.' },
  'account.deletion_failed': { says: 'Five wrong codes ended a deletion of the account.' },
  'account.address_change_undone': {
    says: 'The old mailbox undid a change of the address, which revoked every token and session.',
  },
  'account.mails_chosen': { says: 'Chose which e-mails the owner gets.' },
  'account.deleted': { says: 'Deleted the account.' },
  'account.restored': { says: 'Restored the deleted account.' },
  'account.blocked': { says: 'The operator blocked the account.' },
  'account.unblocked': { says: 'The operator unblocked the account.' },
  'plan.checkout_started': owners('Opened the checkout of a plan.'),
  'payment.created': owners('Created a payment link.'),
  'payment.expired': owners('Closed a payment link.'),
  'payment.refunded': owners('Started the refund of a payment.'),
  'payout_account.added': owners('Added a payout account.'),
  'payout_account.renamed': owners('Renamed a payout account.'),
  'payout_account.key_replaced': owners('Replaced the key of a payout account.'),
  'payout_account.onboarding_started': owners('Created the link that connects a payout account.'),
  'payout_account.removed': owners('Removed a payout account and ended its agreements.'),
  'payout_offer.created': owners('Offered a site and a payout account to each other.'),
  'payout_offer.accepted': owners('Accepted a payout offer.'),
  'payout_offer.ended': owners('Withdrew or declined a payout offer.'),
  'payout_agreement.started': owners('Connected a site to a payout account of its owner.'),
  'payout_agreement.ended': owners('Disconnected a site from its payout account.'),
  'token.created': owners('Created a token, or connected a program.'),
  'token.renamed': owners('Renamed a token.'),
  'token.rotated': owners('Gave a token a new secret.'),
  'token.widened': owners('Allowed a token to do more.'),
  'token.revoked': owners('Revoked a token and what was made with it.'),
  'git_credential.created': owners('Created a git user name and password.'),
  'git_credential.revoked': owners('Revoked a git user name and password.'),
} as const satisfies Record<string, Described>;

export type Action = keyof typeof described;
export const actions: Readonly<Record<Action, Described>> = described;
export const actionNames = Object.keys(described) as [Action, ...Action[]];

/** The kind of the action's subject: its name up to the dot. */
export const subjectKindOf = (action: string): string => action.split('.', 1)[0] ?? '';
