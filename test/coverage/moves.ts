/** Every state transition, and its effects. */
import { rowsOf } from './row.ts';

export const moves = [
  ...rowsOf('move', 'publish', {
    'publishing a site puts the heads of both repositories live': ['acceptance/publishing', 'a site is created'],
    'publishing posts puts the source that is live with the posts of now live': [
      'acceptance/publishing',
      'posts are published with the live source, and unpublished source stays unpublished',
    ],
    'restoring serves an earlier deployment, and no git branch moves': ['acceptance/publishing', 'a restore takes'],
    'a restore while something newer went live is refused': ['publishing/restore', 'a restore overtaken by a newer'],
    'a build that fails leaves the live version as it was': ['acceptance/publishing', 'a failed build says why with'],
    'a publish that a newer one overtakes before it builds is superseded': [
      'acceptance/publishing',
      'of publishes waiting for a build, the newest wins, and the others name it',
    ],
    'a draft post never reaches the live site': ['acceptance/publishing', 'a draft never reaches the live site, and'],
    'archiving a site ends what is being built for it': ['api/sites', 'archiving cancels running builds and their'],
    'an archived site serves nothing, and comes back as it was': ['acceptance/publishing', 'an archived site serves'],
    'a token is revoked at once, by any other than itself': ['api/tokens', 'a token is renamed, and revoked at once'],
    'a token ends at its expiry': ['api/tokens', 'a token expires at its exact time'],
  }),
  ...rowsOf('move', 'people', {
    'an access request is approved with the agent’s code and redeemed once': [
      'people/access-requests',
      'a request is redeemed once',
    ],
    'an access request is refused without a code': ['people/access-requests', 'the owner denies without a code, and'],
    'an access request runs out after 15 minutes': ['people/access-requests', 'a request expires after 15 minutes'],
    'five wrong codes end an access request': ['people/approval', 'five wrong codes expire the request, also'],
    'a new access request takes the place of the open one': ['people/access-requests', 'a new request for an address'],
    'a link to sign in opens one session, and is over after 15 minutes': ['people/signin', 'a link signs in once'],
    'a session ends when it is signed out': ['people/signin', 'signing out ends the session'],
    'a change of address is confirmed, replaced, withdrawn or runs out': ['people/address', 'a later change replaces'],
  }),
  ...rowsOf('move', 'people', {
    'accepting an invitation makes the account a collaborator': ['invitations/invitations', 'an account that accepts'],
    'an invitation that is withdrawn cannot be accepted': ['invitations/invitations', 'a withdrawn invitation cannot'],
    'an expired invitation holds the one slot of its address until it is withdrawn': [
      'invitations/limits',
      'an expired invitation is closed for everybody, and keeps its address until withdrawn',
    ],
    'when an acceptance wins over a withdrawal, the answer points at removing the collaborator': [
      'invitations/invitations',
      'members are not invited again, and accepted invitations are not withdrawn',
    ],
    'removing a collaborator ends the access of every token of that account': [
      'invitations/invitations',
      'removing a collaborator ends the access of all their tokens at once',
    ],
  }),
  ...rowsOf('move', 'material', {
    'a deployment from built output goes live when the last of its files has come': [
      'output/upload',
      'a manifest comes in parts, and missing files can be listed at any time',
    ],
    'a deployment past the stage that takes files takes none': ['output/upload', 'a repeated completion returns the'],
    'an upload that is not completed ends after its time': ['output/upload', 'an upload expires after exactly 24'],
    'an upload that something newer overtakes is superseded': ['output/completing', 'an upload overtaken by a newer'],
  }),
  ...rowsOf('move', 'comments', {
    'a comment thread is resolved and opened again by either side': ['comments/threads', 'both sides reply, resolve'],
    'a review link ends when it is ended, runs out, or its maker or its site goes': [
      'comments/review',
      'a link opens nothing once',
    ],
  }),
  ...rowsOf('move', 'previews', {
    'a preview slot is empty, holds a draft, holds work of its own, and is cleared': [
      'previews/previews',
      'is empty, then has drafts of the site and its own work, until cleared',
    ],
    'a draft is marked for removal 14 days after its build, and removed a week later': [
      'previews/expiry',
      'drafts expire 14 days after their last build, and are removed a week later',
    ],
    'publishing a slot puts its work on the site, and the bytes live that were built before': [
      'previews/publishing',
      'puts its work on main of both repositories',
    ],
    'updating a slot brings in what the site has gained': ['previews/publishing', 'is draft_behind if the site has'],
    'an archived site shows no draft': ['previews/expiry', 'an archived site shows and builds no draft, and continues'],
  }),
  ...rowsOf('move', 'visitors', {
    'a live booking that is cancelled frees its seat': [
      'bookings/cancelling',
      'a site’s member cancels a live booking, and its seats are free at once',
    ],
    'a hold that ran out is live no more and cannot be cancelled': [
      'bookings/holds',
      'every reader sees the hold as expired with a free seat, before any write',
    ],
    'a site that stops taking bookings, confirmed, has its calendars archived and not deleted': [
      'bookings/bookable',
      'bookings are stopped only after confirmation, and existing bookings and calendars stay',
    ],
    'a form that is disabled takes no submissions and keeps those it has': ['forms/forms', 'a disabled form keeps its'],
    'a form that is enabled takes submissions again': ['forms/forms', 'a disabled form keeps its submissions, and an'],
    'a form that is removed, confirmed, takes its submissions with it': ['forms/forms', 'a form removed with'],
  }),
  ...rowsOf('move', 'money', {
    'a payment that is refunded goes back to where the charge went': ['payments/refunds', 'on the rail %s returns the'],
    'accepting a payout offer makes the site pay into the account': ['payouts/offers', 'and the site pays into it'],
    'a payout offer is answered by the party that did not open it': ['payouts/offers', 'only the other party answers'],
    'a payout offer that ran out or was taken back cannot be accepted': ['payouts/offers', 'an offer expires after 14'],
    'a payout agreement is ended by the owner of either side': ['payouts/agreements', 'the site’s owner or the payout'],
  }),
  ...rowsOf('move', 'domains', {
    'a domain that is attached serves the site, its certificate and records without further calls': [
      'acceptance/own-domain',
      'a %s domain serves its site over TLS within 30 s of correct records',
    ],
    'a domain that is detached serves the site no more': ['certificates/serving', 'unattached, blocked and deleted'],
    'a domain is live only when its status and its certificate are both active': [
      'acceptance/own-domain',
      'a %s domain serves its site over TLS within 30 s of correct records',
    ],
    'a domain that moved or was deleted is tried again on a schedule': ['domains/life', 'a domain without DNS becomes'],
    'a blocked domain waits for a person': ['domains/attaching', 'a blocked domain serves no site, and returns when'],
  }),
];
