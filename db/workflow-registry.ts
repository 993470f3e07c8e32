/**
 * Every workflow that follows a row: its id, its task queue, and the rows that should have one running. Used to start
 * workflows (workflow-messages.ts) and to resume them after a restore (resume-workflows.ts).
 */
import { publishKinds, shownStatuses, unfinishedStatuses, unsettledAttempts } from '#rules/states.ts';
import { queues, type WorkflowInputs, type WorkflowName, workflowIds } from '#rules/workflow-ids.ts';
import { sqlList } from './arrays.ts';

type Workflow<Input> = {
  /** The business key. */
  id: (input: Input) => string;
  /** The id of the row, as a search attribute. */
  resource: (input: Input) => string;
  queue: (typeof queues)[keyof typeof queues];
  /** Whether it may start again after it has ended. */
  mayRestart: boolean;
  /** Sent with each start, so that a run that is about to end reads its row once more. */
  signal?: 'moved' | undefined;
  /** Query for the inputs of all that should be running. $1, if present, is the current time. */
  unfinished: string;
};

/** A workflow whose id is derived from the id of its row. */
function followsRow<Key extends string>(
  key: Key,
  id: (rowId: string) => string,
  unfinished: string,
  { mayRestart = false, signal }: { mayRestart?: boolean; signal?: 'moved' } = {},
): Workflow<Record<Key, string>> {
  const resource = (input: Record<Key, string>) => input[key];
  return { id: (input) => id(resource(input)), resource, queue: queues.platform, mayRestart, signal, unfinished };
}

const inProgress = `status in ${sqlList(unfinishedStatuses)}`;

export const workflowRegistry: { [Name in WorkflowName]: Workflow<WorkflowInputs[Name]> } = {
  publishSite: followsRow(
    'deploymentId',
    workflowIds.publishSite,
    `select id as "deploymentId" from deployment where ${inProgress} and kind in ${sqlList(publishKinds)}`,
  ),
  buildPreview: followsRow(
    'deploymentId',
    workflowIds.buildPreview,
    `select id as "deploymentId" from deployment where ${inProgress} and kind = 'draft'`,
  ),
  publishPreview: followsRow(
    'deploymentId',
    workflowIds.publishPreview,
    `select id as "deploymentId" from deployment where ${inProgress} and kind = 'preview'`,
  ),
  expirePreview: followsRow(
    'previewId',
    workflowIds.expirePreview,
    `select id as "previewId" from preview where removed_at is null`,
  ),
  inviteCollaborator: followsRow(
    'invitationId',
    workflowIds.inviteCollaborator,
    `select id as "invitationId" from invitation where status = 'open'`,
  ),
  holdBooking: followsRow(
    'bookingId',
    workflowIds.holdBooking,
    `select id as "bookingId" from booking where status = 'held'`,
  ),
  onboardDomain: followsRow(
    'domainId',
    workflowIds.onboardDomain,
    // A week after its removal a domain has nothing left to clean up.
    `select id as "domainId" from domain where removed_at is null or removed_at > $1::timestamptz - interval '7 days'`,
    { mayRestart: true },
  ),
  followSubscription: followsRow(
    'subscriptionId',
    workflowIds.followSubscription,
    `select id as "subscriptionId" from billing_subscription where settled_at is null`,
  ),
  settlePayment: followsRow(
    'paymentId',
    workflowIds.settlePayment,
    `select id as "paymentId" from payment where status = 'open' or id in
      (select payment_id from payment_attempt where status in ${sqlList(unsettledAttempts)})`,
  ),
  refundPayment: {
    // A charge may be refunded again after a failure; each attempt has its own key.
    id: ({ refundKey }) => workflowIds.refundPayment(refundKey),
    resource: ({ attemptId }) => attemptId,
    queue: queues.platform,
    mayRestart: false,
    unfinished: `select id as "attemptId", refund_key as "refundKey" from payment_attempt
      where refund_key is not null and refunded_at is null
      union all select attempt_id, id from payment_refund where refunded_at is null and failed_at is null`,
  },
  expireOffer: followsRow(
    'offerId',
    workflowIds.expireOffer,
    `select id as "offerId" from payout_offer where status = 'open'`,
  ),
  scanContent: followsRow(
    'id',
    workflowIds.scanContent,
    `select id from deployment where scanned_at is null and manifest_sha256 is not null and status in ${sqlList(shownStatuses)}
      union all select id from sketch where scanned_at is null and status = 'shown'`,
    { mayRestart: true },
  ),
  renderPages: followsRow(
    'renderingId',
    workflowIds.renderPages,
    `select id as "renderingId" from rendering where finished_at is null`,
  ),
  notify: followsRow('mailId', workflowIds.notify, `select id as "mailId" from mail where status = 'queued'`),
  grantAccess: followsRow(
    'requestId',
    workflowIds.grantAccess,
    `select id as "requestId" from access_request where status in ('pending', 'approved')`,
  ),
  deleteSite: followsRow(
    'siteId',
    workflowIds.deleteSite,
    `select id as "siteId" from site where delete_at is not null`,
    { mayRestart: true, signal: 'moved' },
  ),
  deleteAccount: followsRow(
    'accountId',
    workflowIds.deleteAccount,
    `select id as "accountId" from account where delete_at is not null`,
    { mayRestart: true, signal: 'moved' },
  ),
};
