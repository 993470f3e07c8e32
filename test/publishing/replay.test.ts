/** Workflows that began under an earlier version of the code go on under this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protos from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';

const histories = join(import.meta.dirname, '../histories');
const workflowsPath = join(import.meta.dirname, '../../workflows/index.ts');

Runtime.install({ logger: new DefaultLogger('ERROR') });

test('every recorded history replays on the workflows of today', async () => {
  const recorded = readdirSync(histories).map((name) => ({
    workflowId: name,
    history: protos.temporal.api.history.v1.History.decode(readFileSync(join(histories, name))),
  }));
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowsPath }, recorded)) {
    expect({ workflowId, error }).toEqual({ workflowId, error: undefined });
    replayed.push(workflowId);
  }
  expect(replayed.length).toBe(recorded.length);
  expect(replayed.length).toBeGreaterThanOrEqual(4);
}, 60_000);
