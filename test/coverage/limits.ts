/** Every cap. */
import { rowsOf } from './row.ts';

export const limits = [
  ...rowsOf('limit', 'publish', {
    'a body is at most 1 MiB': ['api/errors', 'a body over 1 MiB is body_too_large, and one of 1 MiB is read'],
    'a list takes a limit of 1 to 200': ['api/errors', 'GET %s is %s'],
    'a list holds 50 items unless asked': ['api/pagination', 'a list has 50 items by default'],
    'the account answer reports every cap of the catalog': ['api/account', 'the account contains its usage, limits'],
    'sites of an account': ['api/sites', 'the cap on sites holds under concurrent calls, and archived sites do not'],
    'tokens of an account': ['api/tokens', 'the cap on tokens holds under concurrent calls, and ignores revoked and'],
    'bytes of a file, bytes and files of a site': ['git/rules', 'a push with $brings is refused'],
    'bytes of a push': ['git/broken', 'over the cap is refused with a line that names the limit'],
    'bytes and files of what a build makes': ['sandbox/hostile', '$what exceeds the plan, and the message names the'],
    'seconds of a build': ['sandbox/hostile', 'an endless build is stopped at its time limit'],
    'publishes in an hour': ['acceptance/publishing', 'an account that reaches its hourly publish limit learns when'],
    'calls in a minute, of a token and of an address': ['api/rate-limits', 'a token passes exactly as often'],
    'a cap on frequency says when to come back': ['api/rate-limits', 'a refused call says when to retry, and then'],
  }),
  ...rowsOf('limit', 'people', {
    'access requests for an address in an hour': ['people/asking', 'an address receives at most five requests an hour'],
    'sign-in links for an address in an hour': ['people/signin', 'an address is mailed five links in an hour'],
    'polls of an access request': ['people/access-requests', 'polling faster than the interval is rate_limited'],
    'one open invitation for an address and a site': ['invitations/invitations', 'an address has one open invitation'],
    'collaborators of a site': ['invitations/limits', 'collaborators and open invitations share one limit for each'],
  }),
  ...rowsOf('limit', 'material', {
    'files in a day, over every way in': ['material/allowance', '100 concurrent writes against a daily limit of 50'],
    'files and bytes of an upload link': ['material/uploads', 'accepts its number of files and no more: exactly 10 of'],
  }),
  ...rowsOf('limit', 'comments', {
    'a comment’s note has at most 500 characters': ['comments/threads', 'a note over 500 characters is note_too_long'],
    'open comments of a site': ['comments/threads', 'the cap on open comments holds under concurrent calls, and'],
  }),
  ...rowsOf('limit', 'show', {
    'calls of a token that wait for the inbox': ['inbox/waiting', 'a token has four waiting calls, and a disconnect'],
  }),
  ...rowsOf('limit', 'previews', {
    'preview slots of a site': ['previews/previews', 'is one of the plan’s slots, which are listed with their'],
    'a draft is kept for 14 days after its build': [
      'previews/expiry',
      'drafts expire 14 days after their last build, and are removed a week later',
    ],
  }),
  ...rowsOf('limit', 'visitors', {
    'seats of a calendar': ['bookings/taking', 'seats run out exactly'],
    'submissions are kept 180 days': ['forms/delivery', 'after 180 days a submission is hidden at once, and the sweep'],
    'forms of a site': ['forms/limits', 'the cap on forms holds under concurrent calls, for each site'],
  }),
  ...rowsOf('limit', 'money', {
    'one open payout offer for a site': ['payouts/offers', 'a site has one open offer or agreement; another is'],
  }),
  ...rowsOf('limit', 'domains', {
    'domains of an account': [
      'domains/holding',
      'domains waiting for their owner are in inbox, list and count, within the cap',
    ],
  }),
  ...rowsOf('limit', 'agents', {
    'feedback in a day': ['feedback/feedback', 'the daily limit on notes holds under concurrent calls, and resets the'],
  }),
];
