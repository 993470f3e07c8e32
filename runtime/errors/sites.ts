/** Errors of sites: collaborators, source, deployments. */
import { call } from '#rules/calls/calls.ts';
import { undoPeriod } from '#rules/periods.ts';
import { type ErrorRow, notOffered } from './row.ts';

export const siteErrors = {
  // Sites and collaborators
  invalid_title: {
    status: 400,
    retryable: false,
    when: 'The title is missing or too long',
    remedy: 'Send a title of 1 to 120 characters.',
  },
  invalid_template: {
    status: 400,
    retryable: false,
    when: 'There is no template with this name',
    remedy: `Send a name from ${call('template.list')}.`,
  },
  invalid_return_path: {
    status: 400,
    retryable: false,
    when: 'The return path is not a path on the site',
    remedy: 'Set `_return` to a path on the site, such as `/thanks/`.',
  },
  site_archived: {
    status: 409,
    retryable: false,
    when: 'The site is archived or blocked',
    remedy: `Put the site online first: ${call('site.unarchive')}. If it is being deleted, restore it before that: ${call('site.restore')}. If its \`blocked\` field gives a reason, fix that problem and ask the operator to unblock the site.`,
  },
  site_not_archived: {
    status: 409,
    retryable: false,
    when: 'The site is online, and only an archived site can be deleted',
    remedy: `If the owner agrees that the site goes offline, archive it first: ${call('site.archive')}.`,
  },
  owner_cannot_leave: {
    status: 409,
    retryable: false,
    when: 'The account owns the site, and only a collaborator can leave it or be removed',
    remedy: `If the owner no longer wants the site, archive it (${call('site.archive')}). To delete it as well, then call ${call('site.delete', { confirm: true })}.`,
  },
  no_repositories: {
    status: 503,
    retryable: false,
    when: 'This platform does not provide git repositories',
    remedy: notOffered,
  },
  invitations_unavailable: {
    status: 503,
    retryable: false,
    when: 'This installation cannot send e-mail',
    remedy: notOffered,
  },
  invalid_invitation: {
    status: 400,
    retryable: false,
    when: 'The request contains an invitation link where an invitation id is required',
    remedy: `Send the id from ${call('invitation.list')}, not the link in the e-mail.`,
  },
  invitation_accepted: {
    status: 409,
    retryable: false,
    when: 'The invitation has already been accepted',
    remedy: `No action needed: the person is already a collaborator. ${call('collaborator.list')} lists all collaborators.`,
  },
  email_taken: {
    status: 409,
    retryable: false,
    when: 'Another account uses this e-mail address',
    remedy: 'Use a different address, or sign in to the account that uses this address.',
  },
  address_change_pending: {
    status: 409,
    retryable: false,
    when: `The account’s address changed less than ${undoPeriod} ago and can still be changed back from the old address`,
    remedy: 'Wait until the time that the message names, then send the same request again.',
  },
  // Source, publishing and deployments
  publish_disabled: {
    status: 503,
    retryable: false,
    when: 'This installation cannot build sites',
    remedy: `Ask the operator to provide a sandbox, or build the site elsewhere and upload the build output: ${call('deployment.create')}.`,
  },
  no_source: {
    status: 409,
    retryable: false,
    when: 'The site has no source',
    remedy: 'Push the source to the site’s git repository, then publish.',
  },
  no_live_version: {
    status: 409,
    retryable: false,
    when: 'Posts cannot be published before the site is live',
    remedy: `Publish the whole site first: ${call('site.publish', { scope: 'site' })}.`,
  },
  no_live_source: {
    status: 409,
    retryable: false,
    when: 'The live version was not built from the stored source',
    remedy: 'Publish the whole site: its live version was uploaded, or the commits it was built from no longer exist.',
  },
  build_failed: {
    status: 422,
    retryable: false,
    when: 'The build failed. `detail` contains the log',
    remedy: 'Read the first error in `detail`, fix it, push, and publish again.',
  },
  build_timeout: {
    status: 422,
    retryable: false,
    when: 'The build exceeded its time limit. `detail` contains the log',
    remedy:
      'Find the slow step in `detail` (such as large images or an infinite loop), fix it, push, and publish again.',
  },
  invalid_redirects: {
    status: 400,
    retryable: false,
    when: 'A redirect rule is not valid',
    remedy: 'Correct the rule named in the message, then send the whole list: each call replaces the previous list.',
  },
  invalid_headers: {
    status: 400,
    retryable: false,
    when: 'The file `_headers` of the output is not valid',
    remedy: 'Correct the line named in the message, then publish again.',
  },
  missing_asset: {
    status: 409,
    retryable: false,
    when: 'The contents of a file are missing from the store',
    remedy: 'Send the file again to the same path.',
  },
  invalid_manifest: {
    status: 400,
    retryable: false,
    when: 'The manifest is empty, too large or contains an invalid path',
    remedy: 'Correct the paths named in the message. Send a large manifest in parts.',
  },
  invalid_path: {
    status: 400,
    retryable: false,
    when: 'The platform does not accept files at this path',
    remedy: 'Use another path: simple names that do not begin with a dot, in a folder that accepts this file type.',
  },
  invalid_file: {
    status: 400,
    retryable: false,
    when: 'The content does not match the file type, is corrupt or is not safe to serve',
    remedy: 'Send the whole file, with content that matches its file extension.',
  },
  hash_mismatch: {
    status: 400,
    retryable: false,
    when: 'The bytes do not match the hash in the URL',
    remedy: 'Compute the SHA-256 (hex) of the exact bytes that you send, and use it in the URL.',
  },
  size_mismatch: {
    status: 400,
    retryable: false,
    when: 'The file’s size differs from its size in the manifest',
    remedy: 'Send the manifest again with the exact size of the file in bytes.',
  },
  upload_incomplete: {
    status: 409,
    retryable: false,
    when: 'Some files in the manifest have not been uploaded yet',
    remedy: 'Upload the files that the manifest response lists as `missing`, then complete the upload.',
  },
  not_accepting_uploads: {
    status: 409,
    retryable: false,
    when: 'The deployment no longer accepts uploads',
    remedy: 'Create a new deployment.',
  },
  superseded: {
    status: 409,
    retryable: false,
    when: 'A newer deployment is already live',
    remedy: 'Check which version is live. If you still want to publish yours, create a new deployment.',
  },
  not_restorable: {
    status: 409,
    retryable: false,
    when: 'The version cannot be restored',
    remedy: 'Restore another version, or publish from source.',
  },
  unarchived_content: {
    status: 409,
    retryable: 'depends',
    when: 'Some of the version’s files are missing from storage. Retrying can fix a publish, but not a restore',
    remedy: 'If you were publishing, send the same call again. If you were restoring, publish from source instead.',
  },
  storage_error: {
    status: 502,
    retryable: true,
    when: 'Storage is temporarily unavailable',
    remedy: 'Send the same call again.',
  },
  invalid_slot: {
    status: 400,
    retryable: false,
    when: 'There is no preview slot with this number, or the booking’s start time is not available',
    remedy:
      'For a preview, send a slot number between 1 and the account’s `limits.preview_slots`. For a booking, send one of the start times that the slots call returns.',
  },
} as const satisfies Record<string, ErrorRow>;
