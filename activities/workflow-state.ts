/** The state of a workflow in Temporal, for reconciliation. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** `missing`: never started, or past its retention. */
export async function workflowState(temporal: Client, workflowId: string): Promise<'running' | 'ended' | 'missing'> {
  try {
    const { status } = await temporal.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' ? 'running' : 'ended';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
