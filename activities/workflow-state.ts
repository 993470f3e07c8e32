/** What the engine knows of a workflow: for those who hold rows against it. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** Whether it runs, has ended, or was never there (or so long ago that the engine has forgotten it). */
export async function workflowState(temporal: Client, workflowId: string): Promise<'running' | 'ended' | 'missing'> {
  try {
    const { status } = await temporal.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' ? 'running' : 'ended';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
