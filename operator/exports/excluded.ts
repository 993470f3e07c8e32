/**
 * Tables of a site, and columns of exported tables, that an archive does not contain, with the reasons. A test compares
 * this list and `document.ts` with the schema, so that every new table or column is either exported or listed here.
 */
const people = 'people are not exported; the importing owner needs to invite them again';
const money = 'payments belong to the ledger of the installation that received them';
const names = 'domains need to be verified and attached again after the import';
const temporary = 'finished, or repeated by the next publish';
const counted = 'statistics belong to this installation';
const owner = 'the importing account';
const place = 'the site itself';
const version = 'applies only to the version on the exporting installation; the import creates a new one';

export const excluded: Record<string, string> = {
  acme_token: names,
  build_log: temporary,
  certificate: names,
  collaborator: people,
  domain: names,
  domain_record: names,
  former_name: 'redirects of hosts of this installation',
  flag: 'reviewed by the operators of this installation; imported files are scanned again',
  git_credential: 'a person’s secret on this installation',
  held_file: 'records that a file is in this installation’s store',
  invitation: people,
  payment: money,
  payment_attempt: money,
  payout_agreement: money,
  payout_offer: money,
  purge_blob: 'only of a site that is being deleted',
  preview: 'built drafts are not exported, but their branches are; a push builds them again',
  review_link: 'a link to this installation',
  upload_file: temporary,
  upload_link: 'a link to this installation',
  view_hour: counted,
  view_total: counted,

  'asset.site_id': place,
  'bookable.notify_collaborator_id': `${people}; until then, the owner is notified of bookings`,
  'bookable.site_id': place,
  'booking.hold_expires_at': 'an unpaid hold is exported as expired',
  'booking.mail_id': 'this installation has already sent the e-mail',
  'booking.paying': money,
  'booking.payment_id': money,
  'booking.site_id': place,
  'booking.visitor_sealed': 'encrypted with this installation’s keys',
  'calendar.seatings': 'a counter that serialises bookings',
  'calendar.site_id': place,
  'comment_message.account_id':
    'people are not exported: comments are attributed to the importing account, with their original kind of author',
  'comment_thread.deployment_id': 'only the live version is exported',
  'comment_thread.site_id': place,
  'form.notify_collaborator_id': `${people}; until then, the owner is notified of enquiries`,
  'form.site_id': place,
  'submission.mail_id': 'this installation has already sent the e-mail',

  'deployment.no_cache': version,
  'deployment.created_at': version,
  'deployment.created_by_id': owner,
  'deployment.created_via': owner,
  'deployment.created_via_name': owner,
  'deployment.error': 'a live version has no error',
  'deployment.file_count': version,
  'deployment.files_listed': version,
  'deployment.finished_at': version,
  'deployment.image': version,
  'deployment.kind': version,
  'deployment.expected_heads': version,
  'deployment.manifest_sha256': 'exported as `manifest`, with its files',
  'deployment.number': version,
  'deployment.scanned_at': version,
  'deployment.scanned_whole': version,
  'deployment.site_id': place,
  'deployment.slot': version,
  'deployment.started_at': version,
  'deployment.status': 'only the live version is exported',
  'deployment.superseded_by_id': 'a live version has not been superseded',
  'deployment.ticket': version,
  'deployment.total_bytes': version,
  'deployment.turn_at': version,
  'deployment.upload_ends_at': version,
  'deployment.warnings': 'computed again on request',
  'deployment.published_output': 'applies only to drafts',

  'site.account_id': owner,
  'site.block_reason': 'exported as `blocked`',
  'site.blocked_at': 'exported as `blocked`',
  'site.cache_epoch': 'build caches are not exported',
  'site.changed_xid': 'meaningful only in one database',
  'site.delete_at': 'a deletion does not continue elsewhere',
  'site.purged_at': 'a purged site has no archive',
  'site.last_number': 'numbering restarts at the first version after the import',
  'site.last_ticket': 'numbering restarts at the first version after the import',
  'site.live_deployment_id': 'exported as `live`',
  'site.live_ticket': 'numbering restarts at the first version after the import',
  'site.owner_blocked_at': 'exported as `blocked`',
  'site.redirects_sha256': 'exported as `redirects`',
  'site.status': 'exported as `archived_at`',
};
