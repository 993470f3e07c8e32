/** Errors of previews and domains. */
import { call } from '#rules/calls/calls.ts';
import { type ErrorRow, notOffered } from './row.ts';

export const hostingErrors = {
  // Previews
  preview_disabled: {
    status: 503,
    retryable: false,
    when: 'This installation cannot serve previews',
    remedy: notOffered,
  },
  preview_empty: {
    status: 409,
    retryable: false,
    when: 'The preview slot has no finished draft yet',
    remedy: 'Wait until the build has finished, or start one if none is running.',
  },
  preview_expired: {
    status: 410,
    retryable: false,
    when: 'The draft has expired and will be removed',
    remedy: `Build the preview slot again: ${call('preview.build')}.`,
  },
  preview_holds_work: {
    status: 409,
    retryable: false,
    when: 'The preview slot contains unpublished changes',
    remedy: `Publish the preview slot. To discard the changes, clear the slot: ${call('preview.clear', { discard: true })}.`,
  },
  slot_empty: {
    status: 409,
    retryable: false,
    when: 'The preview slot has no draft',
    remedy: 'Build the preview slot first.',
  },
  slot_not_branched: {
    status: 409,
    retryable: false,
    when: 'The preview slot has no branch of its own',
    remedy: `Push work to the branch \`preview/1\` first. A preview slot without a branch shows the site’s \`main\`; to publish \`main\`, call ${call('site.publish')}.`,
  },
  draft_behind: {
    status: 409,
    retryable: false,
    when: 'The site has changed since the draft was built',
    remedy: `Update the preview slot (${call('preview.update')}), check the draft, then publish.`,
  },
  draft_conflict: {
    status: 409,
    retryable: false,
    when: 'The site and the preview slot changed the same files',
    remedy: 'Use git to merge the files named in the message, and push the result to the preview slot’s branch.',
  },
  // Domains
  invalid_domain: {
    status: 400,
    retryable: false,
    when: 'The domain name is not valid or cannot be added',
    remedy: 'Send a domain name that the owner has registered, without a scheme or a path.',
  },
  invalid_mode: {
    status: 400,
    retryable: false,
    when: 'The platform does not support this domain mode',
    remedy: 'Send one of the modes in the account’s `domain_onboarding.modes`.',
  },
  invalid_record: {
    status: 400,
    retryable: false,
    when: 'The DNS record is not valid or not supported',
    remedy: 'Correct the part of the record named in the message: its type, name, content or length.',
  },
  record_rejected: {
    status: 400,
    retryable: false,
    when: 'The name server rejected the DNS record',
    remedy: 'The record conflicts with an existing record. List the records, and remove the conflicting one.',
  },
  records_not_managed: {
    status: 409,
    retryable: false,
    when: 'The platform does not host the domain’s DNS zone',
    remedy: 'Ask the owner to set the record at their DNS provider, or add the domain with the mode `nameservers`.',
  },
  cname_unavailable: {
    status: 503,
    retryable: false,
    when: 'The CNAME target is not ready',
    remedy:
      'Tell the operator, or use another mode in `domain_onboarding.modes`. Retrying helps only after the operator has fixed the target.',
  },
  domain_taken: {
    status: 409,
    retryable: false,
    when: 'The domain belongs to another account',
    remedy:
      'The other account needs to remove the domain; then verify the domain again. If the owner does not know that account, send feedback.',
  },
  domain_unavailable: {
    status: 409,
    retryable: false,
    when: 'The domain is reserved or blocked',
    remedy: 'Use another domain; this one cannot be added.',
  },
  domain_not_active: {
    status: 409,
    retryable: false,
    when: 'The domain is not active yet',
    remedy: 'Ask the owner to set the records in `setup`, and wait until `status` is `active`.',
  },
  attach_blocked: {
    status: 409,
    retryable: false,
    when: 'The site cannot currently be served on this domain',
    remedy:
      'First resolve the problem named in the message: detach the domain from its site, or wait until its DNS records point to the platform.',
  },
  check_unavailable: {
    status: 503,
    retryable: true,
    when: 'The DNS check is temporarily unavailable',
    remedy: 'Send the call again in a minute. Nothing has changed.',
  },
} as const satisfies Record<string, ErrorRow>;
