import type { DeploymentKind } from './states.ts';

/** The business key of each workflow. Temporal shows ids in plain text, so they contain no personal data. */
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
  refundPayment: (refundKey: string) => `refund:${refundKey}`,
  expireOffer: (offerId: string) => `offer:${offerId}`,
  scanContent: (id: string) => `scan:${id}`,
  renderPages: (renderingId: string) => `rendering:${renderingId}`,
  notify: (mailId: string) => `mail:${mailId}`,
  grantAccess: (requestId: string) => `access:${requestId}`,
  deleteSite: (siteId: string) => `site-deletion:${siteId}`,
  deleteAccount: (accountId: string) => `account-deletion:${accountId}`,
  schedule: (name: string) => `schedule:${name}`,
} as const;

/** The argument of each workflow that follows a row. */
export type WorkflowInputs = {
  publishSite: { deploymentId: string };
  buildPreview: { deploymentId: string };
  publishPreview: { deploymentId: string };
  expirePreview: { previewId: string };
  inviteCollaborator: { invitationId: string };
  holdBooking: { bookingId: string };
  onboardDomain: { domainId: string };
  followSubscription: { subscriptionId: string };
  settlePayment: { paymentId: string };
  refundPayment: { attemptId: string; refundKey: string };
  expireOffer: { offerId: string };
  scanContent: { id: string };
  renderPages: { renderingId: string };
  notify: { mailId: string };
  grantAccess: { requestId: string };
  deleteSite: { siteId: string };
  deleteAccount: { accountId: string };
};
export type WorkflowName = keyof WorkflowInputs;

/** The signals that a workflow handles. `moved`: its row has changed. */
export type WorkflowSignals = {
  publishSite: 'turn';
  buildPreview: 'turn';
  expirePreview: 'moved';
  inviteCollaborator: 'moved';
  holdBooking: 'moved';
  onboardDomain: 'attach' | 'detach' | 'check' | 'block' | 'unblock' | 'remove';
  followSubscription: 'moved';
  settlePayment: 'moved';
  expireOffer: 'moved';
  grantAccess: 'moved';
  deleteSite: 'moved';
  deleteAccount: 'moved';
};

/**
 * The type of the workflow that finishes a deployment: a publish of the site, a draft's build, or the publish of a
 * preview slot.
 */
export function deploymentWorkflow({ kind }: { kind: DeploymentKind }) {
  if (kind === 'draft') return 'buildPreview';
  return kind === 'preview' ? 'publishPreview' : 'publishSite';
}

export function deploymentWorkflowId(deployment: { id: string; kind: DeploymentKind }): string {
  return workflowIds[deploymentWorkflow(deployment)](deployment.id);
}

/** The task queues: `platform` for short work on rows and files, `builds` for machines with a sandbox, `screenshots` for those with a browser. */
export const queues = { platform: 'platform', builds: 'builds', screenshots: 'screenshots' } as const;

/**
 * Headers with the request context: of the request that started the workflow, and of the last one that signalled it.
 */
export const contextHeaders = { request: 'frontage-request', signal: 'frontage-signal' } as const;
