/** Messages to workflows, written to the outbox in the caller's transaction and sent after it commits. */
import type { WorkflowInputs, WorkflowName, WorkflowSignals } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { propagatedContext } from '#runtime/telemetry/context.ts';
import type { EntityManager } from './orm.ts';
import { OutboxEntry, type OutboxMessage } from './outbox-entry.ts';
import { workflowRegistry } from './workflow-registry.ts';

/** What operators see of a workflow. */
export type WorkflowAbout = {
  summary: string;
  site?: string | undefined;
  account?: string | undefined;
  hostname?: string | undefined;
  /** The search attribute, if it is not the id of the row. */
  resource?: string | undefined;
  /** Not before this time. */
  startAt?: Date | undefined;
};

/** Starts the workflow. A second start with the same id has no effect, or makes the running one read its row again. */
export function startWorkflow<Name extends WorkflowName>(
  tx: EntityManager,
  clock: Clock,
  name: Name,
  input: WorkflowInputs[Name],
  about: WorkflowAbout,
): void {
  enqueue(tx, clock, { kind: 'start', ...startOf(name, input, about) });
}

/** Sends the workflow a signal. It has no effect once the workflow has ended. */
export function signalWorkflow<Name extends keyof WorkflowSignals>(
  tx: EntityManager,
  clock: Clock,
  name: Name,
  input: WorkflowInputs[Name],
  signal: WorkflowSignals[Name],
): void {
  enqueue(tx, clock, { kind: 'signal', workflowId: workflowRegistry[name].id(input), message: { signal } });
}

/** Cancels the workflow, where it is running. */
export function cancelWorkflow<Name extends WorkflowName>(
  tx: EntityManager,
  clock: Clock,
  name: Name,
  input: WorkflowInputs[Name],
): void {
  enqueue(tx, clock, { kind: 'cancel', workflowId: workflowRegistry[name].id(input) });
}

/** The id and the message that start a workflow. */
export function startOf<Name extends WorkflowName>(
  name: Name,
  input: WorkflowInputs[Name],
  { summary, site, account, hostname, resource, startAt }: WorkflowAbout,
): { workflowId: string; message: OutboxMessage } {
  const workflow = workflowRegistry[name];
  const searchAttributes = {
    Resource: resource ?? workflow.resource(input),
    ...(site ? { SiteId: site } : {}),
    ...(account ? { AccountId: account } : {}),
    ...(hostname ? { Hostname: hostname } : {}),
  };
  const restart = workflow.mayRestart ? { mayRestart: true } : {};
  const signal = workflow.signal ? { signal: workflow.signal } : {};
  const delay = startAt ? { startAt: startAt.toISOString() } : {};
  const message = { type: name, input, summary, searchAttributes, ...restart, ...signal, ...delay };
  return { workflowId: workflow.id(input), message };
}

function enqueue(
  em: EntityManager,
  clock: Clock,
  entry: { kind: OutboxEntry['kind']; workflowId: string; message?: OutboxMessage },
): void {
  const cause = propagatedContext(entry.kind);
  const message = { ...entry.message, ...(cause ? { cause } : {}) };
  em.create(OutboxEntry, { id: newId('out'), ...entry, message, createdAt: clock.now() });
}
