/**
 * What of a site's rows an archive does not carry as it is, and why: tables that lead to a site, and columns of those that are carried. A test
 * holds this and `document.ts` to the schema, so that a new table or column is carried or has its reason here.
 */
const people = 'people stay where they are; whoever takes the site in invites them anew';
const money = 'money stays with the installation that took it, whose ledger it is';
const names = 'a domain is proved and attached anew where its site is';
const outlasted = 'work of this installation that is over, or that the next publish does anew';
const counted = 'visits are counted here, and begin anew elsewhere';
const owner = 'whoever takes the site in';
const place = 'the site itself';
const version = 'of the version as it was made here; the import makes one of its own';

export const left: Record<string, string> = {
  acme_token: names,
  build_log: outlasted,
  certificate: names,
  collaborator: people,
  domain: names,
  domain_record: names,
  flag: 'what operators here looked at; whatever comes in is scanned where it comes in',
  git_credential: 'a secret of somebody here',
  held_file: 'a mark that a file is in this store',
  invitation: people,
  payment: money,
  payment_attempt: money,
  payout_agreement: money,
  payout_offer: money,
  preview: 'drafts are not carried as they are shown; their branches are, and a push builds them anew',
  review_link: 'a link to this installation, given to people here',
  upload_file: outlasted,
  upload_link: 'a link to this installation, given to people here',
  view_hour: counted,
  view_total: counted,

  'asset.site_id': place,
  'bookable.notify_collaborator_id': `${people}: until then the owner hears of bookings`,
  'bookable.site_id': place,
  'booking.hold_expires_at': 'a hold that waits for its payment is carried as expired: the payment stays',
  'booking.mail_id': 'mails were sent from here',
  'booking.paying': money,
  'booking.payment_id': money,
  'booking.site_id': place,
  'booking.visitor_sealed': 'sealed with keys of this installation',
  'calendar.seatings': 'a count that makes who books wait for each other; it means nothing afterwards',
  'calendar.site_id': place,
  'comment_message.account_id':
    'people stay where they are: all words come as of the account that takes the site in, with the kind of author that they had',
  'comment_thread.deployment_id': 'the version that it was written on: versions but the live one stay',
  'comment_thread.site_id': place,
  'form.notify_collaborator_id': `${people}: until then the owner hears of enquiries`,
  'form.site_id': place,
  'submission.mail_id': 'mails were sent from here',

  'deployment.anew': version,
  'deployment.created_at': version,
  'deployment.created_by_id': owner,
  'deployment.error': 'the live version has none',
  'deployment.file_count': version,
  'deployment.files_listed': version,
  'deployment.finished_at': version,
  'deployment.image': version,
  'deployment.kind': version,
  'deployment.mains_before': version,
  'deployment.manifest_sha256': 'carried as `manifest`, with its files',
  'deployment.number': version,
  'deployment.scanned_at': version,
  'deployment.scanned_whole': version,
  'deployment.site_id': place,
  'deployment.slot': version,
  'deployment.started_at': version,
  'deployment.status': 'only the live version is carried',
  'deployment.superseded_by_id': 'the live version was superseded by none',
  'deployment.ticket': version,
  'deployment.total_bytes': version,
  'deployment.upload_ends_at': version,
  'deployment.warnings': 'found anew when somebody asks',
  'deployment.without_drafts': 'of drafts',

  'site.account_id': owner,
  'site.block_reason': 'carried as `blocked`',
  'site.blocked_at': 'carried as `blocked`',
  'site.changed_xid': 'means something in one database alone',
  'site.last_number': 'versions are counted anew',
  'site.last_ticket': 'versions are counted anew',
  'site.live_deployment_id': 'carried as `live`',
  'site.live_ticket': 'versions are counted anew',
  'site.owner_blocked_at': 'carried as `blocked`',
  'site.redirects_sha256': 'carried as `redirects`',
  'site.status': 'carried as `archived_at`',
};
