/**
 * The outbox: a transaction writes its messages to the workflow engine as rows, which are sent after it commits.
 * Entries are sent at least once, and repeating one is harmless: a workflow id is a business key, and workflows read
 * the rows.
 */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { queues } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { runWithContext } from '#runtime/telemetry/context.ts';
import { tracing } from '#runtime/telemetry/spans.ts';
import type { EntityManager } from './orm.ts';
import { OutboxEntry, type OutboxMessage } from './outbox-entry.ts';
import { workflowRegistry } from './workflow-registry.ts';

const batchSize = 50;
const sendTimeoutMs = 5_000;

const searchAttributeKeys = {
  SiteId: defineSearchAttributeKey('SiteId', 'KEYWORD'),
  AccountId: defineSearchAttributeKey('AccountId', 'KEYWORD'),
  Hostname: defineSearchAttributeKey('Hostname', 'KEYWORD'),
  Resource: defineSearchAttributeKey('Resource', 'KEYWORD'),
};

/** The id of the request that started the workflow; undefined where a schedule did, or the entry is deleted. */
export async function requestOf(em: EntityManager, workflowId: string): Promise<string | undefined> {
  const [first] = await em.execute<{ id: string | null }[]>(
    `select message->'cause'->>'reqId' as id from outbox where workflow_id = ? and kind = 'start' order by outbox.id limit 1`,
    [workflowId],
  );
  return first?.id ?? undefined;
}

function searchAttributesOf(message: OutboxMessage): TypedSearchAttributes {
  const pairs = Object.entries(message.searchAttributes ?? {}) as [keyof typeof searchAttributeKeys, string][];
  return new TypedSearchAttributes(pairs.map(([name, value]) => ({ key: searchAttributeKeys[name], value })));
}

type Sender = Pick<Deps, 'temporal' | 'clock'>;

async function send(sender: Sender, entry: OutboxEntry): Promise<void> {
  await sender.temporal.withAbortSignal(AbortSignal.timeout(sendTimeoutMs), () => deliver(sender, entry));
}

/** Runs it in the context of the request that wrote the entry. The span starts when the entry was written. */
async function traced(
  { kind, workflowId, attempts, createdAt, message: { cause } }: OutboxEntry,
  act: () => Promise<void>,
) {
  const spans = cause?.traceparent === undefined ? undefined : tracing();
  if (!spans) return await runWithContext({ ...cause, workflowId }, act);
  const span = spans.start(`outbox ${kind}`, { kind: 'producer', parent: cause?.traceparent, since: createdAt });
  const attributes = { 'frontage.outbox.attempts': attempts, temporalWorkflowId: workflowId };
  try {
    const within = { ...cause, workflowId, traceparent: span.traceparent };
    await runWithContext(within, () => spans.withParent(span.traceparent, act));
    span.end(attributes);
  } catch (error) {
    span.end(attributes, 'error');
    throw error;
  }
}

async function deliver(sender: Sender, { kind, workflowId, message }: OutboxEntry): Promise<void> {
  const handle = sender.temporal.workflow.getHandle(workflowId);
  try {
    if (kind === 'signal') await handle.signal(message.signal ?? '');
    else if (kind === 'cancel') await handle.cancel();
    else await start(sender, workflowId, message);
  } catch (error) {
    // A workflow that has ended has already read the rows; messages only make workflows read them earlier.
    if (error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError) return;
    throw error;
  }
}

async function start({ temporal, clock }: Sender, workflowId: string, message: OutboxMessage): Promise<void> {
  const { type, startAt, signal } = message;
  if (!type) throw new Error('the outbox entry has no workflow type');
  const options: WorkflowStartOptions = {
    workflowId,
    // A later release's process may have written a type that this one does not know.
    taskQueue: type in workflowRegistry ? workflowRegistry[type].queue : queues.platform,
    args: [message.input],
    workflowIdReusePolicy: message.mayRestart ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: searchAttributesOf(message),
    ...(message.summary ? { staticSummary: message.summary } : {}),
    ...(startAt ? { startDelay: Math.max(0, Date.parse(startAt) - clock.now().getTime()) } : {}),
  };
  if (signal === undefined) await temporal.workflow.start(type, options);
  else await temporal.workflow.signalWithStart(type, { ...options, signal });
}

/**
 * Sends waiting entries, oldest first, and returns how many were sent. Skips rows that another process is sending, and
 * rows whose workflow has an earlier unsent entry.
 */
export async function relayOutbox(deps: Pick<Deps, 'em' | 'temporal' | 'clock' | 'log'>): Promise<number> {
  return await deps.em().transactional(async (em) => {
    const rows: { id: string }[] = await em.execute(
      `select id from outbox o where sent_at is null and not exists
         (select 1 from outbox e where e.workflow_id = o.workflow_id and e.sent_at is null and e.id < o.id)
       order by attempts, id limit ${batchSize} for update skip locked`,
    );
    const entries = await em.find(OutboxEntry, { id: { $in: rows.map((row) => row.id) } });
    await Promise.all(
      entries.map(async (entry) => {
        entry.attempts += 1;
        try {
          await traced(entry, () => send(deps, entry));
          entry.sentAt = deps.clock.now();
          entry.lastError = null;
        } catch (error) {
          entry.lastError = String(error).slice(0, 500);
          deps.log.warn(
            { err: error, reqId: entry.message.cause?.reqId, workflowId: entry.workflowId, kind: entry.kind },
            'a message could not be sent to Temporal; retrying',
          );
        }
      }),
    );
    return entries.filter((entry) => entry.sentAt).length;
  });
}

/**
 * Relays after each commit that adds an entry, and each second. Returns the function that stops it after the current
 * round.
 */
export function startRelay(deps: Deps): () => Promise<void> {
  let stopped = false;
  let wake: () => void = () => {};
  const stopListening = deps.notifications.on('outbox_added', () => wake());

  async function loop(): Promise<void> {
    while (!stopped) {
      let timer: NodeJS.Timeout | undefined;
      const next = new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, 1000);
      });
      const sent = await relayOutbox(deps).catch((error) => {
        deps.log.warn({ err: error }, 'the outbox could not be read');
        return 0;
      });
      if (sent < batchSize && !stopped) await next;
      clearTimeout(timer);
    }
  }

  const running = loop();
  return async () => {
    stopped = true;
    stopListening();
    wake();
    await running;
  };
}
