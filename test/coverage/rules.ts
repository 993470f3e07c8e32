/** Rules for calls, the source and access. */
import { rowsOf } from './row.ts';
import { rulesOfAgents } from './rules-of-agents.ts';

export const rules = [
  ...rowsOf('rule', 'publish', {
    'an error is one key, error, with code, message and retryable': ['api/errors', 'gets the one-key body'],
    'the code is described in one catalog': ['api/description', 'every error code of the catalog is described'],
    'next_action says the remedy where there is one': ['acceptance/publishing', 'a failed build says why with its log'],
    'request_id comes with an internal error': [
      'api/errors',
      'an unexpected failure is internal with its request id; its message is only logged',
    ],
    'detail comes with a build failure and is its log': ['acceptance/publishing', 'a failed build says why with its'],
    'what is not finished answers 200 with status and next_action': ['acceptance/publishing', 'a caller that does not'],
    'every call under /v1 asks for a token': ['api/hostile', '%s requires a token before anything else'],
    'no call answers an unexpected failure to wrong input': ['api/hostile', 'none of these requests failed'],
    'a body is read by its schema, and an unknown field refused': ['api/hostile', '%s rejects bodies that do not'],
    'a list answers next_cursor until its end': [
      'api/pagination',
      'pages contain every site once, newest first, even if a',
    ],
    'a cursor opens its own list of its own account alone': [
      'api/pagination',
      'a cursor that was altered, of another list',
    ],
    'deployments come newest first': ['acceptance/publishing', 'deployments are listed newest first, in pages'],
    'an id is no credential: a site of another account is not found': ['api/sites', 'a site is invisible to other'],
    'a deployment of another account is not found': ['acceptance/publishing', "another account's deployment is not"],
    'a token of another account is not found': ['api/tokens', "another account's token is not found"],
    'an expiry of a token is in the future': ['api/tokens', 'an expiry must be in the future'],
    'tokens are listed with their last use': ['api/tokens', 'the last use is listed'],
    'a git credential opens one repository': [
      'git/access',
      'gives no access if wrong, expired or foreign, and git says why',
    ],
    'a path below src/content/ belongs to the content repository': ['git/commits', 'below src/content/ goes to'],
    'a batch that crosses the repositories is refused': ['git/rules', 'a push with $brings is refused'],
    'the content repository takes the formats of a list': ['git/rules', 'a push with $brings is refused'],
    'a frozen file is refused by the API as by a push': ['git/rules', 'by the API, with the same rule'],
    'a refused push changes nothing and says why': [
      'git/rules',
      'by git, with a line naming file and rule, and leaves nothing',
    ],
    "the framework's configuration is not frozen": ['git/rules', 'a push and an API commit with $brings are accepted'],
    'src/assets takes what the build can read, public/ PDF alone': ['git/rules', 'a push with $brings is refused'],
    'the type of a file is read from its bytes': ['git/rules', 'a push with $brings is refused'],
    'a starter builds as it is': ['sandbox/sites', 'the starter %s builds with its posts and without any'],
    'the site says what of it is not published': ['api/sites', 'a site lists its unpublished changes'],
    'a deployment says what changed in it': ['acceptance/publishing', 'a site is created, cloned, changed, pushed'],
    'a deployment says whether it can be restored': ['acceptance/publishing', 'a restore takes effect at once, and'],
    'the account says its counts, limits and capabilities': ['api/account', 'the account contains its usage, limits'],
    'what is switched off answers its own code': ['api/capabilities', 'each disabled capability has its own code'],
    'no answer names a provider or carries its words': [
      'api/errors',
      'an unexpected failure is internal with its request id; its message is only logged',
    ],
    'a site is served on its name under the base domain': ['edge/hosts', '%s: the site'],
  }),
  ...rowsOf('rule', 'people', {
    'the address of an account is changed only after the new one is confirmed': [
      'people/address',
      'a new address needs confirmation, and the old one is notified twice',
    ],
    'what was sent to an old address is good for nothing': ['people/address', 'mails to the old address are invalid'],
    'opening a mailed link does nothing by itself': [
      'people/approval',
      'a scanner without cookies cannot answer a request',
    ],
    'known and unknown addresses are answered alike': ['people/access-requests', 'unknown addresses get the same'],
    'the first approval opens the account where sign-up is open': ['people/access-requests', 'with open sign-up, the'],
    'what is another owner’s is not found on the pages either': ['people/owner-page', 'another owner’s data is not'],
    'a collaborator passes the access check of a site and is refused what is the owner’s': [
      'api/access/access',
      '%s responds to each caller as the table says',
    ],
    'an acceptance is for the account of the token alone': ['invitations/invitations', 'foreign sites, invitations'],
  }),
  ...rowsOf('rule', 'material', {
    'asset writes, photos, commits and upload links share one daily allowance': [
      'material/allowance',
      'of 100 concurrent writes against a daily limit of 50 exactly 50 pass',
    ],
    'an upload link is bound to site, expiry, number of files and bytes per file': [
      'material/uploads',
      'ends at its expiry, its revocation, or the end of its maker’s access',
    ],
    'to name a hash gets nobody the bytes of another account': ['output/upload', 'naming a hash gives no access to'],
    'hostile paths and files of built output are refused whole': ['output/refused', '500 hostile paths and files are'],
    'redirects take effect at once and stay through a restore': ['redirects/serving', 'belongs to its deployment'],
    'no script of a sketch runs': [
      'sketches/sketches',
      'no script runs; sketches are side by side on desktops, stacked on phones',
    ],
    'what is wrong in the output is told and stops nothing': ['output/warnings', 'faults in the output are warnings'],
  }),
  ...rowsOf('rule', 'show', {
    'the inbox lists what waits for the caller, and nothing of anybody else': ['inbox/inbox', 'collaborators see'],
    'visitors are counted without a cookie, and known again on the same day alone': [
      'analytics/queries',
      'a visitor counts once a day, and rolling up changes no result',
    ],
    'the salt of a day is deleted when it is over': ['analytics/queries', 'a day’s salt is deleted after the day, and'],
    "no visitor's address is anywhere on disk": ['acceptance/addresses', 'visitors are counted without their'],
    'what visitors send takes bounded memory and rows': ['analytics/bounds', 'referrers beyond the limit of a row are'],
    'a view is written once, whatever happens to the database': [
      'analytics/bounds',
      'counts are saved once after a write that failed or whose response was lost',
    ],
    'a year of a busy site is read in less than 100 ms': ['analytics/year', 'a year of a busy site is read in less'],
    'robots are left out': ['analytics/page-views', 'requests that are no page view by a person are not counted'],
    'a waiting inbox answers within a second of the first item': ['inbox/waiting', 'a long poll returns within a'],
  }),
  ...rowsOf('rule', 'comments', {
    'the site list counts open comment threads': ['comments/threads', 'lists and reads of a site contain its number'],
    'the owner’s page counts open comment threads': ['people/owner-page', 'sees how many comments are open'],
    'a thread without its picture says why': ['comments/pictures', 'a thread without a picture has the reason, and'],
    'a review link writes comments of its site in a browser, and nothing else': [
      'comments/overlay',
      'comments on a heading; the agent’s inbox has the thread with its picture',
    ],
    'a thread finds its place after a rebuild, or says that it could not': [
      'comments/places',
      'that moves the heading, the pin is on it',
    ],
    'the script of a site reads no key of a review and writes no comment': ['comments/attacks', 'reads no key or'],
  }),
  ...rowsOf('rule', 'previews', {
    'a slot has a draft that drafts of posts are seen on': ['previews/publishing', 'puts its work on main of both'],
    'a draft is on a host that nobody can guess, kept from search engines, and says what it is': [
      'previews/serving',
      'a preview host has 130 random bits, and cannot be a site’s name',
    ],
    'clearing a slot loses no work unless it is told to': ['previews/previews', 'unpublished work is'],
    'a conflict names the files and moves nothing': ['previews/publishing', 'with conflicting files is draft_conflict'],
  }),
  ...rowsOf('rule', 'visitors', {
    'a booking keeps a hash of the address, not the address': ['bookings/mails', 'once the mails are sent, only the'],
    'the calls of visitors need no token': ['bookings/taking', 'a visitor reads services, days and time slots, and'],
    'the address that a form posts to never changes': ['forms/forms', 'a form has a permanent address, is read'],
    'notify_to is one of the addresses of the site, which notify_options lists': ['forms/forms', 'notify_to is a'],
    'submissions come newest first, and as CSV': ['forms/csv', 'thousands of rows are in the file, newest first'],
  }),
  ...rowsOf('rule', 'money', {
    'the service says which plans are sellable': ['billing/billing', 'is read with its contents, its caps, and every'],
    'a plan that includes a domain is not sellable': ['billing/catalog', 'a catalog with %s is refused'],
    'a cap of a site is that of its owner, whoever acts': ['billing/limits', 'is that of the owner, whichever member'],
    'a cap comes from our catalog, never from the provider': ['billing/webhooks', 'a message’s content is not trusted'],
    'every opening of a pay link mints a fresh page': ['payments/payments', 'every opening redirects to a new page'],
    'the reference of a payment is not read': ['payments/payments', 'the reference is stored unchanged, whatever it'],
    'a secret key is sealed, and only its last four characters are shown': [
      'payouts/secrets',
      'a key is in no row, log or error, except its last four characters',
    ],
    'an account with its own key is refused onboarding': ['payouts/onboarding', 'an account with its owner’s own key'],
    'a payout account says what it waits for': ['payouts/accounts', 'an account says what it waits for, and whether'],
  }),
  ...rowsOf('rule', 'domains', {
    'the account lists the ways to onboard a domain': [
      'domains/holding',
      'domains waiting for their owner are in inbox, list and count, within the cap',
    ],
    'no domain is ever registered': [
      'domains/holding',
      'an unregistered name waits, and the response lists this problem',
    ],
  }),
  ...rulesOfAgents,
];
