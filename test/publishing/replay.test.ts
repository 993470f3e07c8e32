/** Workflows that began under an earlier version of the code go on under this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protos from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { workflowIds } from '../../workflows/ids.ts';

const histories = join(import.meta.dirname, '../histories');
const workflowsPath = join(import.meta.dirname, '../../workflows/index.ts');

Runtime.install({ logger: new DefaultLogger('ERROR') });

const recorded = readdirSync(histories).map((name) => ({
  workflowId: name,
  history: protos.temporal.api.history.v1.History.decode(readFileSync(join(histories, name))),
}));

test('of every workflow that follows a row a history is kept', () => {
  const { schedule: _schedule, ...followers } = workflowIds;
  const kept = recorded.map(
    ({ history }) => history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
  );
  for (const name of Object.keys(followers)) expect(kept).toContain(name);
});

test('every recorded history replays on the workflows of today', async () => {
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowsPath }, recorded)) {
    expect({ workflowId, error }).toEqual({ workflowId, error: undefined });
    replayed.push(workflowId);
  }
  expect(replayed.length).toBe(recorded.length);
  expect(replayed.length).toBeGreaterThanOrEqual(4);
}, 60_000);
