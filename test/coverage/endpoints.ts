/** Every call. */
import { rowsOf } from './row.ts';

export const endpoints = [
  ...rowsOf('endpoint', 'publish', {
    'GET /v1/account': ['api/account', 'the account contains its usage, limits and capabilities'],
    'POST /v1/tokens': ['api/tokens', 'a token is shown once, works, and is stored as a hash'],
    'GET /v1/tokens': ['api/tokens', 'the last use is listed'],
    'PATCH /v1/tokens/{id}': ['api/tokens', 'a token is renamed, and revoked at once'],
    'DELETE /v1/tokens/{id}': ['api/tokens', 'a token is renamed, and revoked at once'],
    'GET /v1/templates': ['api/sites', 'every listed template creates a site'],
    'POST /v1/sites': [
      'api/sites',
      'a new site has its address, both repositories with the template, and nothing live',
    ],
    'GET /v1/sites': ['api/pages', 'pages contain every site once, newest first, even if a site is added meanwhile'],
    'GET /v1/sites/{id}': ['api/sites', 'a site lists its unpublished changes'],
    'PATCH /v1/sites/{id}': ['api/sites', 'title and name change, and the address with the name'],
    'POST /v1/sites/{id}/archive': ['api/sites', 'an archived site can be read and unarchived, and keeps its name'],
    'POST /v1/sites/{id}/unarchive': ['api/sites', 'an archived site can be read and unarchived, and keeps its name'],
    'POST /v1/sites/{id}/git-credentials': ['git/files', 'open the repository they were made for'],
    'GET /v1/sites/{id}/files': ['git/files', 'are one tree of both repositories'],
    'POST /v1/sites/{id}/commits': ['git/commits', 'stands in git under the name of the account'],
    'POST /v1/sites/{id}/publish': [
      'acceptance/publishing',
      'a site is created, cloned, changed, pushed, published and visited',
    ],
    'GET /v1/sites/{id}/deployments': ['acceptance/publishing', 'deployments are listed newest first, in pages'],
    'GET /v1/deployments/{id}': [
      'acceptance/publishing',
      'a site is created, cloned, changed, pushed, published and visited',
    ],
    'GET /v1/deployments/{id}/files': ['acceptance/publishing', 'posts are published with the live source'],
    'GET /v1/deployments/{id}/log': [
      'acceptance/publishing',
      'a caller that does not wait gets the next action, and reads the outcome later',
    ],
    'POST /v1/deployments/{id}/restore': [
      'acceptance/publishing',
      'a restore takes effect at once, and moves no git branch',
    ],
    'git /git/{id}.git': ['git/http', 'can be cloned, changed and pushed, and the next fetch brings the change'],
    'git /git/{id}.content.git': ['git/rules', 'a push goes in that brings $brings'],
  }),
  ...rowsOf('endpoint', 'people', {
    'POST /v1/auth/requests': ['people/access-requests', 'an agent asks, the owner types its code'],
    'POST /v1/auth/requests/{id}/redeem': ['people/access-requests', 'an agent asks, the owner types its code'],
    'PATCH /v1/account': ['people/address', 'a new address is in force only once it is confirmed'],
  }),
  ...rowsOf('endpoint', 'people', {
    'GET /v1/sites/{id}/collaborators': ['invitations/invitations', 'the list of collaborators has the owner first'],
    'POST /v1/sites/{id}/collaborators': [
      'invitations/invitations',
      'an invitation shows site by hostname, address, state',
    ],
    'DELETE /v1/sites/{id}/collaborators/{account_id}': [
      'invitations/invitations',
      'removing a collaborator ends the access of every token',
    ],
    'GET /v1/sites/{id}/invitations': [
      'invitations/invitations',
      'an invitation shows site by hostname, address, state',
    ],
    'DELETE /v1/sites/{id}/invitations/{invitation_id}': [
      'invitations/invitations',
      'a withdrawn invitation cannot be accepted',
    ],
    'GET /v1/invitations': ['invitations/invitations', 'an invitation shows site by hostname, address, state'],
    'POST /v1/invitations/{id}/accept': ['invitations/invitations', 'accepting makes the account a collaborator'],
  }),
  ...rowsOf('endpoint', 'material', {
    'POST /v1/sketches': ['sketches/sketches', 'each direction is on a host of its own that nobody can guess'],
    'DELETE /v1/sketches/{id}': ['sketches/sketches', 'a sketch that is taken down is gone at once'],
    'POST /v1/sites/{id}/deployments': ['output/upload', 'built output is named, sent and made live'],
    'POST /v1/deployments/{id}/manifest': ['output/upload', 'a manifest comes in parts'],
    'PUT /v1/deployments/{id}/files/{sha256}': ['output/upload', 'built output is named, sent and made live'],
    'POST /v1/deployments/{id}/complete': ['output/upload', 'built output is named, sent and made live'],
    'GET /v1/sites/{id}/redirects': ['redirects/serving', 'redirects are set as a whole, read back, and in effect'],
    'PUT /v1/sites/{id}/redirects': ['redirects/serving', 'redirects are set as a whole, read back, and in effect'],
  }),
  ...rowsOf('endpoint', 'material', {
    'GET /v1/sites/{id}/assets': ['material/assets', 'the list has what came by the API, newest first, in pages'],
    'GET /v1/sites/{id}/assets/{path}': ['material/assets', 'is answered on our host so that no browser makes a page'],
    'PUT /v1/sites/{id}/assets/{path}': ['material/assets', 'that is put is a commit of its author in the source'],
    'POST /v1/photos/search': ['material/photos', 'answers photos with ids, pictures and credits of ours'],
    'POST /v1/sites/{id}/photos': ['material/photos', 'is put into the site with its credit beside it'],
    'POST /v1/sites/{id}/uploads': ['material/uploads', 'is made, shown once, listed without its address, and ended'],
    'GET /v1/sites/{id}/uploads': ['material/uploads', 'is made, shown once, listed without its address, and ended'],
    'DELETE /v1/uploads/{id}': ['material/uploads', 'is made, shown once, listed without its address, and ended'],
  }),
  ...rowsOf('endpoint', 'show', {
    'GET /v1/sites/{id}/analytics': [
      'analytics/page-views',
      'page views are counted whatever the response, cached or not',
    ],
    'GET /v1/inbox': ['inbox/inbox', 'what waits is listed over all sites, newest first'],
  }),
  ...rowsOf('endpoint', 'comments', {
    'GET /v1/sites/{id}/comments': ['comments/threads', 'the list is filtered by status and by since'],
    'POST /v1/sites/{id}/comments': ['comments/threads', 'a thread has its words, author, page and place'],
    'GET /v1/comments/{id}/screenshot': [
      'comments/pictures',
      'a picture that is %s by its bytes is stored and read back',
    ],
    'POST /v1/comments/{id}/reply': [
      'comments/threads',
      'both sides reply, resolve and reopen, and a note is a message',
    ],
    'POST /v1/sites/{id}/review-links': [
      'comments/links',
      'a link is created, shown once, listed without its address, and revoked',
    ],
    'GET /v1/sites/{id}/review-links': [
      'comments/links',
      'a link is created, shown once, listed without its address, and revoked',
    ],
    'DELETE /v1/review-links/{id}': [
      'comments/links',
      'a link is created, shown once, listed without its address, and revoked',
    ],
  }),
  ...rowsOf('endpoint', 'previews', {
    'GET /v1/sites/{id}/previews': ['previews/previews', 'is one of those the plan has, which are listed'],
    'GET /v1/sites/{id}/previews/{slot}': ['previews/previews', 'is empty, holds a draft of the site, then of its own'],
    'POST /v1/sites/{id}/previews/{slot}': [
      'previews/previews',
      'is empty, holds a draft of the site, then of its own',
    ],
    'POST /v1/sites/{id}/previews/{slot}/update': ['previews/publishing', 'is draft_behind when the site has moved'],
    'POST /v1/sites/{id}/previews/{slot}/publish': [
      'previews/publishing',
      'puts its work on main of both repositories',
    ],
    'DELETE /v1/sites/{id}/previews/{slot}': ['previews/previews', 'work that is not on the site is preview_holds'],
  }),
  ...rowsOf('endpoint', 'visitors', {
    'POST /v1/sites/{id}/forms': ['forms/forms', 'a form has a permanent address, is read, listed and changed'],
    'GET /v1/sites/{id}/forms': ['forms/forms', 'a form has a permanent address, is read, listed and changed'],
    'GET /v1/forms/{id}': ['forms/forms', 'a form has a permanent address, is read, listed and changed'],
    'PATCH /v1/forms/{id}': ['forms/forms', 'a form has a permanent address, is read, listed and changed'],
    'DELETE /v1/forms/{id}': ['forms/forms', 'a form removed with confirmation loses its submissions'],
    'POST /v1/forms/{id}/disable': [
      'forms/forms',
      'a disabled form keeps its submissions, and an enabled one accepts new ones',
    ],
    'POST /v1/forms/{id}/enable': [
      'forms/forms',
      'a disabled form keeps its submissions, and an enabled one accepts new ones',
    ],
    'GET /v1/forms/{id}/submissions': [
      'forms/limits',
      'submissions are listed newest first, in pages, since a time, for 180 days',
    ],
    'POST /v1/sites/{id}/bookable': [
      'bookings/bookable',
      'a timetable is declared, read back with its defaults, and replaced completely',
    ],
    'GET /v1/sites/{id}/bookable': [
      'bookings/bookable',
      'a timetable is declared, read back with its defaults, and replaced completely',
    ],
    'DELETE /v1/sites/{id}/bookable': [
      'bookings/bookable',
      'bookings are stopped only after confirmation, and existing bookings and calendars stay',
    ],
    'GET /v1/sites/{id}/bookings': ['bookings/taking', 'bookings are listed newest first, in pages'],
    'GET /v1/bookings/{id}': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
    'POST /v1/bookings/{id}/cancel': [
      'bookings/cancelling',
      'a member of the site cancels a live booking, and its seats are free at once',
    ],
    'POST /b/{public_id}': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
    'GET /b/{public_id}': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
    'GET /b/{public_id}/days': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
    'GET /b/{public_id}/slots': [
      'bookings/taking',
      'a visitor reads services, days and time slots, and books one without a token',
    ],
  }),
  ...rowsOf('endpoint', 'money', {
    'GET /v1/billing': ['billing/billing', 'is read with its contents, its caps, and every plan of the catalog'],
    'POST /v1/billing/checkout': ['billing/billing', 'is bought on the provider’s page, and active once it is paid'],
    'POST /v1/billing/portal': [
      'billing/billing',
      'is managed on the provider’s page after a payment, before it is no_billing_history',
    ],
    'POST /v1/sites/{id}/payments': ['payments/payments', 'a link is opened, paid and known to be paid'],
    'GET /v1/sites/{id}/payments': ['payments/payments', 'the payments of a site are listed'],
    'GET /v1/payments/{id}': ['payments/payments', 'a link is opened, paid and known to be paid'],
    'POST /v1/payments/{id}/refund': ['payments/refunds', 'gives the whole amount back, once'],
    'POST /v1/account/payout-accounts': [
      'payouts/accounts',
      'an account with its owner’s key is checked, takes money at once',
    ],
    'GET /v1/sites/{id}/payout-account': ['payouts/agreements', 'an owner attaches his own account to his site'],
    'GET /v1/account/payout-accounts': ['payouts/accounts', 'an account says what it waits for, in our words'],
    'PATCH /v1/account/payout-accounts/{id}': ['payouts/accounts', 'an account is renamed'],
    'DELETE /v1/account/payout-accounts/{id}': ['payouts/accounts', 'an account that is removed is gone'],
    'POST /v1/account/payout-accounts/{id}/key': [
      'payouts/accounts',
      'a new key of the same account takes the place of the old one',
    ],
    'GET /v1/account/payout-accounts/{id}/sites': [
      'payouts/offers',
      'an offer from the site is accepted by the owner of the payout account',
    ],
    'POST /v1/account/payout-accounts/{id}/onboarding': [
      'payouts/onboarding',
      'each opening of the link mints a fresh page',
    ],
    'POST /v1/account/payout-accounts/{id}/offers': [
      'payouts/offers',
      'an offer from outside names the site by a hostname',
    ],
    'POST /v1/sites/{id}/payout-account': ['payouts/agreements', 'an owner attaches his own account to his site'],
    'DELETE /v1/sites/{id}/payout-account': [
      'payouts/agreements',
      'an agreement is ended by the owner of the site, or by the owner of the payout account',
    ],
    'POST /v1/sites/{id}/payout-offers': [
      'payouts/offers',
      'an offer from the site is accepted by the owner of the payout account',
    ],
    'GET /v1/payout-offers': ['payouts/offers', 'no mail is sent about an offer: it is counted, listed'],
    'GET /v1/payout-offers/{id}': ['payouts/offers', 'an offer is over after 14 days for every reader'],
    'POST /v1/payout-offers/{id}/accept': [
      'payouts/offers',
      'an offer is answered by the party that did not open it, and once',
    ],
    'DELETE /v1/payout-offers/{id}': ['payouts/offers', 'the opener takes an offer back, the other declines it'],
  }),
  ...rowsOf('endpoint', 'domains', {
    'POST /v1/domains': [
      'domains/onboarding',
      'setup names a pair of name servers, and delegation to them activates the domain',
    ],
    'GET /v1/domains': [
      'domains/holding',
      'domains that wait for their owner are in inbox, list and count, up to the cap',
    ],
    'GET /v1/domains/{id}': ['domains/onboarding', 'a domain becomes active without a call, within ten checks'],
    'DELETE /v1/domains/{id}': ['domains/holding', 'CNAME and TXT records prove nothing for the next account'],
    'POST /v1/domains/{id}/check': [
      'domains/holding',
      'a check without DNS says so, changes nothing, and is limited to one in five seconds',
    ],
    'POST /v1/domains/{id}/attach': [
      'domains/attaching',
      'the first domain is primary, another can become so, and detaching passes it on',
    ],
    'POST /v1/domains/{id}/detach': [
      'domains/attaching',
      'the first domain is primary, another can become so, and detaching passes it on',
    ],
    'GET /v1/domains/{id}/records': ['domains/records', 'the platform’s own records are listed, and protected'],
    'POST /v1/domains/{id}/records': ['domains/records', '$type $name is written, and served by the name server'],
    'DELETE /v1/domains/{id}/records/{record_id}': [
      'domains/records',
      '$type $name is written, and served by the name server',
    ],
  }),
  ...rowsOf('endpoint', 'agents', {
    'GET /v1/skill': ['skill/skill', 'the tree is listed, and each file reads as listed, with a token and without'],
    'GET /v1/skill/{path}': [
      'skill/skill',
      'the tree is listed, and each file reads as listed, with a token and without',
    ],
    'POST /v1/feedback': ['feedback/feedback', 'a note is stored, and the operator reads it'],
  }),
];
