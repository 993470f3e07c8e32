/**
 * Starts every workflow that the rows need, after a restore, because the new installation's workflow engine has none of
 * them. Starting a running workflow has no effect, and a workflow whose row is settled ends at once.
 */
import type pg from 'pg';
import type { WorkflowInputs, WorkflowName } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { startOf, type WorkflowAbout } from './workflow-messages.ts';
import { workflowRegistry } from './workflow-registry.ts';

/** Adds the starts to the client's transaction. Returns how many of each type. */
export async function resumeWorkflows(client: pg.ClientBase, clock: Clock): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of Object.keys(workflowRegistry) as WorkflowName[]) {
    const { unfinished } = workflowRegistry[name];
    const { rows } = await client.query<WorkflowInputs[typeof name]>(
      unfinished,
      unfinished.includes('$1') ? [clock.now()] : [],
    );
    for (const input of rows) await enqueueStart(client, clock, name, input, { summary: 'Restarted after a restore' });
    if (rows.length > 0) counts[name] = rows.length;
  }
  return counts;
}

/** `startWorkflow` for a client that has no entity manager; the workflow may have run before. */
export async function enqueueStart<Name extends WorkflowName>(
  client: pg.ClientBase,
  clock: Clock,
  name: Name,
  input: WorkflowInputs[Name],
  about: WorkflowAbout,
): Promise<void> {
  const { workflowId, message } = startOf(name, input, about);
  await client.query(
    `insert into outbox (id, kind, workflow_id, message, created_at) values ($1, 'start', $2, $3, $4)`,
    [newId('out'), workflowId, JSON.stringify({ ...message, mayRestart: true }), clock.now()],
  );
}
