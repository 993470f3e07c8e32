/** The business key of each workflow: one id, one type. Ids are plain text everywhere, so they carry no personal data. */
export const workflowIds = {
  publishSite: (deploymentId: string) => `publish:${deploymentId}`,
  buildPreview: (deploymentId: string) => `preview-build:${deploymentId}`,
  publishPreview: (deploymentId: string) => `preview-publish:${deploymentId}`,
  expirePreview: (previewId: string) => `preview-expiry:${previewId}`,
  inviteCollaborator: (invitationId: string) => `invitation:${invitationId}`,
  holdBooking: (bookingId: string) => `booking:${bookingId}`,
  onboardDomain: (domainId: string) => `domain:${domainId}`,
  followSubscription: (subscriptionId: string) => `billing:${subscriptionId}`,
  settlePayment: (paymentId: string) => `payment:${paymentId}`,
  refundPayment: (attemptId: string) => `refund:${attemptId}`,
  expireOffer: (offerId: string) => `offer:${offerId}`,
  scanContent: (id: string) => `scan:${id}`,
  notify: (mailId: string) => `mail:${mailId}`,
  grantAccess: (requestId: string) => `access:${requestId}`,
  schedule: (name: string) => `schedule:${name}`,
} as const;

/** The workflow that finishes a deployment: a site's publish, the build of a slot's draft, or the publish of a slot. */
export function workflowIdOf({ id, kind, ticket }: { id: string; kind: string; ticket: number }): string {
  if (kind !== 'preview') return workflowIds.publishSite(id);
  return ticket === 0 ? workflowIds.buildPreview(id) : workflowIds.publishPreview(id);
}

/** The two task queues: short work on rows and files, and builds on machines that have a sandbox. */
export const queues = { platform: 'platform', builds: 'builds' } as const;

/** Headers in which workflows and their steps are told for which request they run, and which was the last to signal. */
export const causeHeaders = { request: 'frontage-request', signal: 'frontage-signal' } as const;
