/** What holds for calls, the source and access, beside the calls themselves. */
import { rowsOf } from './row.ts';
import { rulesOfAgents } from './rules-of-agents.ts';

export const rules = [
  ...rowsOf('rule', 'publish', {
    'an error is one key, error, with code, message and retryable': ['api/errors', 'gets the one-key body'],
    'the code is described in one catalog': ['api/description', 'every error code of the catalog is described'],
    'next_action says the remedy where there is one': [
      'acceptance/publishing',
      'a failed build says why with its log, and the live version stays',
    ],
    'request_id comes with an internal error': [
      'api/errors',
      'an unexpected failure is internal with the request id, and its message stays in the log',
    ],
    'detail comes with a build failure and is its log': [
      'acceptance/publishing',
      'a failed build says why with its log, and the live version stays',
    ],
    'what is not finished answers 200 with status and next_action': [
      'acceptance/publishing',
      'a caller that does not wait gets the next action, and reads the outcome later',
    ],
    'every call under /v1 asks for a token': ['api/hostile', '%s requires a token before anything else'],
    'no call answers an unexpected failure to wrong input': [
      'api/hostile',
      'none of these requests failed unexpectedly',
    ],
    'a body is read by its schema, and an unknown field refused': [
      'api/hostile',
      '%s rejects bodies that do not match its schema',
    ],
    'a list answers next_cursor until its end': [
      'api/pages',
      'pages contain every site once, newest first, even if a site is added meanwhile',
    ],
    'a cursor opens its own list of its own account alone': ['api/pages', 'a cursor that was altered, of another list'],
    'deployments come newest first': ['acceptance/publishing', 'deployments are listed newest first, in pages'],
    'an id is no credential: a site of another account is not found': [
      'api/sites',
      'a site is invisible to other accounts',
    ],
    'a deployment of another account is not found': [
      'acceptance/publishing',
      "another account's deployment is not found",
    ],
    'a token of another account is not found': ['api/tokens', "another account's token is not found"],
    'an expiry of a token is in the future': ['api/tokens', 'an expiry must be in the future'],
    'tokens are listed with their last use': ['api/tokens', 'the last use is listed'],
    'a git credential opens one repository': ['git/access', 'that is wrong, has run out or belongs elsewhere opens'],
    'a path below src/content/ belongs to the content repository': ['git/commits', 'below src/content/ goes to'],
    'a batch that crosses the repositories is refused': ['git/rules', 'a push is refused that brings $brings'],
    'the content repository takes the formats of a list': ['git/rules', 'a push is refused that brings $brings'],
    'a frozen file is refused by the API as by a push': ['git/rules', 'by the API, with the same rule'],
    'a refused push changes nothing and says why': [
      'git/rules',
      'by git, with a line that names the file and the rule',
    ],
    "the framework's configuration is not frozen": ['git/rules', 'a push goes in that brings $brings'],
    'src/assets takes what the build can read, public/ PDF alone': ['git/rules', 'a push is refused that brings'],
    'the type of a file is read from its bytes': ['git/rules', 'a push is refused that brings $brings'],
    'a starter builds as it is': ['sandbox/sites', 'the starter %s builds with its posts and without any'],
    'the site says what of it is not published': ['api/sites', 'a site lists its unpublished changes'],
    'a deployment says what changed in it': [
      'acceptance/publishing',
      'a site is created, cloned, changed, pushed, published and visited',
    ],
    'a deployment says whether it can be restored': [
      'acceptance/publishing',
      'a restore takes effect at once, and moves no git branch',
    ],
    'the account says its counts, limits and capabilities': [
      'api/account',
      'the account contains its usage, limits and capabilities',
    ],
    'what is switched off answers its own code': ['api/capabilities', 'each disabled capability has its own code'],
    'no answer names a provider or carries its words': [
      'api/errors',
      'an unexpected failure is internal with the request id, and its message stays in the log',
    ],
    'a site is served on its name under the base domain': ['edge/hosts', '%s: the site'],
  }),
  ...rowsOf('rule', 'people', {
    'the address of an account is changed only after the new one is confirmed': [
      'people/address',
      'a new address is in force only once it is confirmed, and the old one is told both times',
    ],
    'what was sent to an old address is good for nothing': [
      'people/address',
      'what was sent to the old address is good for nothing once it has changed',
    ],
    'opening a mailed link does nothing by itself': [
      'people/approval',
      'a scanner that opens the link in every way, without the cookies of a browser, answers nothing',
    ],
    'known and unknown addresses are answered alike': [
      'people/access-requests',
      'an address without an account gets the same answers and the same mail as one with',
    ],
    'the first approval opens the account where sign-up is open': [
      'people/access-requests',
      'where sign-up is open, the first approval opens the account',
    ],
    'what is another owner’s is not found on the pages either': [
      'people/owner-page',
      'what is another owner’s is not found, whatever of its ids is known',
    ],
    'a collaborator passes the access check of a site and is refused what is the owner’s': [
      'api/access/access',
      '%s responds to each caller as listed',
    ],
    'an acceptance is for the account of the token alone': [
      'invitations/invitations',
      'what belongs to others is not_found',
    ],
  }),
  ...rowsOf('rule', 'material', {
    'asset writes, photos, commits and upload links share one daily allowance': [
      'material/allowance',
      '100 writes at once, over every way in and two sites',
    ],
    'an upload link is bound to site, expiry, number of files and bytes per file': [
      'material/uploads',
      'is over with its time, at its end, and with the access of who made it',
    ],
    'to name a hash gets nobody the bytes of another account': [
      'output/upload',
      'to name a hash gets nobody the bytes',
    ],
    'hostile paths and files of built output are refused whole': [
      'output/refused',
      'a corpus of 500 hostile paths and files',
    ],
    'redirects take effect at once and stay through a restore': ['redirects/serving', 'belongs to its deployment'],
    'no script of a sketch runs': ['sketches/sketches', 'in a browser no script runs'],
    'what is wrong in the output is told and stops nothing': ['output/warnings', 'what is wrong in the output is told'],
  }),
  ...rowsOf('rule', 'show', {
    'the inbox lists what waits for the caller, and nothing of anybody else': [
      'inbox/inbox',
      'collaborators see what is theirs, and nobody else sees anything',
    ],
    'visitors are counted without a cookie, and known again on the same day alone': [
      'analytics/queries',
      'a visitor counts once a day, and rolling up changes no result',
    ],
    'the salt of a day is deleted when it is over': [
      'analytics/queries',
      'a day’s salt is deleted after the day, and hours after they are summed',
    ],
    "no visitor's address is anywhere on disk": [
      'acceptance/addresses',
      'visitors are counted without their addresses reaching a log or the database',
    ],
    'what visitors send takes bounded memory and rows': [
      'analytics/bounds',
      'referrers beyond the limit of a row are counted as other',
    ],
    'a view is written once, whatever happens to the database': [
      'analytics/bounds',
      'counts that could not be saved are saved once later',
    ],
    'a year of a busy site is read in less than 100 ms': [
      'analytics/year',
      'a year of a busy site is read in less than',
    ],
    'robots are left out': ['analytics/page-views', 'requests that are no page view by a person are not counted'],
    'a waiting inbox answers within a second of the first item': ['inbox/waiting', 'answers within a second'],
  }),
  ...rowsOf('rule', 'comments', {
    'the site list counts open comment threads': [
      'comments/threads',
      'lists and reads of a site contain its number of open threads',
    ],
    'the owner’s page counts open comment threads': ['people/owner-page', 'sees how many comments are open'],
    'a thread without its picture says why': [
      'comments/pictures',
      'a thread without a picture has the reason, and its picture is not found',
    ],
    'a review link writes comments of its site in a browser, and nothing else': [
      'comments/overlay',
      'comments on a heading: the thread has a picture and is in the agent’s inbox',
    ],
    'a thread finds its place after a rebuild, or says that it could not': [
      'comments/places',
      'that moves the heading, the pin is on it',
    ],
    'the script of a site reads no key of a review and writes no comment': [
      'comments/attacks',
      'reads no key or comment, and writes no comment as the owner',
    ],
  }),
  ...rowsOf('rule', 'previews', {
    'a slot has a draft that drafts of posts are seen on': ['previews/publishing', 'puts its work on main of both'],
    'a draft is on a host that nobody can guess, kept from search engines, and says what it is': [
      'previews/serving',
      'its host is of 130 random bits',
    ],
    'clearing a slot loses no work unless it is told to': [
      'previews/previews',
      'work that is not on the site is preview_hol',
    ],
    'a conflict names the files and moves nothing': [
      'previews/publishing',
      'of files that both changed is draft_conflict',
    ],
  }),
  ...rowsOf('rule', 'visitors', {
    'a booking keeps a hash of the address, not the address': [
      'bookings/mails',
      'once the mails are sent, only the keyed hash of the visitor’s address remains',
    ],
    'the calls of visitors need no token': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
    'the address that a form posts to never changes': [
      'forms/forms',
      'a form has a permanent address, is read, listed and changed',
    ],
    'notify_to is one of the addresses of the site, which notify_options lists': [
      'forms/forms',
      'notify_to is a member’s address, and returns to the owner with the member’s access',
    ],
    'submissions come newest first, and as CSV': [
      'forms/csv',
      'thousands of rows are in the file, newest first, without loading all at once',
    ],
  }),
  ...rowsOf('rule', 'money', {
    'the service says which plans are sellable': [
      'billing/billing',
      'is read with its contents, its caps, and every plan of the catalog',
    ],
    'a plan that includes a domain is not sellable': ['billing/catalog', 'a catalog with %s is refused'],
    'a cap of a site is that of its owner, whoever acts': [
      'billing/limits',
      'is that of the owner, whichever member acts',
    ],
    'a cap comes from our catalog, never from the provider': [
      'billing/webhooks',
      'a message’s content is not trusted: the provider is queried',
    ],
    'every opening of a pay link mints a fresh page': ['payments/payments', 'every opening leads to a fresh page'],
    'the reference of a payment is not read': [
      'payments/payments',
      'the reference is kept as it came, whatever it holds',
    ],
    'a secret key is sealed, and only its last four characters are shown': [
      'payouts/secrets',
      'a key stands in no row',
    ],
    'an account with its own key is refused onboarding': [
      'payouts/onboarding',
      'an account with its owner’s own key is refused onboarding',
    ],
    'a payout account says what it waits for': ['payouts/accounts', 'an account says what it waits for, in our words'],
  }),
  ...rowsOf('rule', 'domains', {
    'the account lists the ways to onboard a domain': [
      'domains/holding',
      'domains that wait for their owner are in inbox, list and count, up to the cap',
    ],
    'no domain is ever registered': ['domains/holding', 'an unregistered name waits, and the response says so'],
  }),
  ...rulesOfAgents,
];
