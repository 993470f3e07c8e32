/**
 * Starts every workflow that the rows say is under way: what a restore does, whose workflow engine knows of none. As everywhere, rows decide: what runs
 * already goes on, and what finds its row settled ends.
 */
import type pg from 'pg';
import { workflowIds } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';

type UnderWay = {
  /** Name of the workflow. */
  type: Exclude<keyof typeof workflowIds, 'schedule'>;
  /** Its rows, each with what its workflow takes: by the names of its input. */
  rows: string;
};

const unfinished = `status in ('queued', 'building', 'storing')`;
// A week after its end nothing is left to be written down.
const ended = `interval '7 days'`;

/** One line for each kind of workflow; a test holds the list against `workflowIds`. $1 is the time. */
export const underWay: readonly UnderWay[] = [
  {
    type: 'publishSite',
    rows: `select id as "deploymentId" from deployment where ${unfinished} and kind in ('site', 'posts')`,
  },
  {
    type: 'buildPreview',
    rows: `select id as "deploymentId" from deployment where ${unfinished} and kind = 'preview' and ticket = 0`,
  },
  {
    type: 'publishPreview',
    rows: `select id as "deploymentId" from deployment where ${unfinished} and kind = 'preview' and ticket > 0`,
  },
  { type: 'expirePreview', rows: `select id as "previewId" from preview where removed_at is null` },
  { type: 'inviteCollaborator', rows: `select id as "invitationId" from invitation where status = 'open'` },
  { type: 'holdBooking', rows: `select id as "bookingId" from booking where status = 'held'` },
  {
    type: 'onboardDomain',
    rows: `select id as "domainId" from domain where removed_at is null or removed_at > $1::timestamptz - ${ended}`,
  },
  {
    type: 'followSubscription',
    rows: `select id as "subscriptionId" from billing_subscription where settled_at is null`,
  },
  {
    type: 'settlePayment',
    rows: `select id as "paymentId" from payment where status = 'open' or id in
      (select payment_id from payment_attempt where status in ('minting', 'open'))`,
  },
  {
    type: 'refundPayment',
    rows: `select id as "attemptId", refund_key as "refundKey" from payment_attempt where refund_key is not null and refunded_at is null`,
  },
  { type: 'expireOffer', rows: `select id as "offerId" from payout_offer where status = 'open'` },
  {
    type: 'scanContent',
    rows: `select id from deployment where scanned_at is null and manifest_sha256 is not null and status in ('live', 'ready')
      union all select id from sketch where scanned_at is null and status = 'shown'`,
  },
  { type: 'notify', rows: `select id as "mailId" from mail where status = 'queued'` },
  { type: 'grantAccess', rows: `select id as "requestId" from access_request where status in ('pending', 'approved')` },
];

/** Writes the starts into the client's transaction, and answers how many of each kind. */
export async function restartAll(client: pg.ClientBase, clock: Clock): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const now = clock.now();
  for (const { type, rows: question } of underWay) {
    const values = question.includes('$1') ? [now] : [];
    const { rows } = await client.query<Record<string, string>>(question, values);
    for (const input of rows)
      await enqueueStart(client, now, { type, input, summary: 'Taken up again after a restore' });
    if (rows.length > 0) counts[type] = rows.length;
  }
  return counts;
}

type Start = { type: UnderWay['type']; input: Record<string, string>; summary: string };

/** What `enqueue` does, on a client that has no entity manager. */
export async function enqueueStart(client: pg.ClientBase, now: Date, { type, input, summary }: Start): Promise<void> {
  // A refund is known by its key, everything else by the id of its row.
  const key = Object.values(input).at(-1) as string;
  const searchAttributes = { Resource: Object.values(input)[0] };
  const message = { type, input, mayRestart: true, summary, searchAttributes };
  await client.query(
    `insert into outbox (id, kind, workflow_id, message, created_at) values ($1, 'start', $2, $3, $4)`,
    [newId('out'), workflowIds[type](key), JSON.stringify(message), now],
  );
}
