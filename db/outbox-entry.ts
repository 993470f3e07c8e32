import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { WorkflowName } from '#rules/workflow-ids.ts';
import type { PropagatedContext } from '#runtime/telemetry/context.ts';

/** A message to the workflow engine, written in the transaction that caused it and sent after the commit. */
export const OutboxEntry = defineEntity({
  name: 'OutboxEntry',
  tableName: 'outbox',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<'start' | 'signal' | 'cancel'>(),
    workflowId: p.text(),
    /** For a start: the workflow's type, its argument, and the summary for operators. For a signal: its name, also of one sent with a start. */
    message: p.json().$type<OutboxMessage>(),
    createdAt: p.datetime(),
    sentAt: p.datetime().nullable(),
    attempts: p.integer().default(0),
    lastError: p.text().nullable(),
  },
});
export type OutboxEntry = InferEntity<typeof OutboxEntry>;

export type OutboxMessage = {
  /** The request context that the message belongs to. */
  cause?: PropagatedContext;
  type?: WorkflowName;
  input?: unknown;
  signal?: string;
  /** For a start: also if an earlier workflow with this id has ended. */
  mayRestart?: boolean;
  /** For a start: not before this time (RFC 3339). */
  startAt?: string;
  summary?: string;
  searchAttributes?: { SiteId?: string; AccountId?: string; Hostname?: string; Resource?: string };
};
