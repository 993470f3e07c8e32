/** Workers of two releases side by side, and the schedules that the last one leaves. */
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { bundleDir, temporalAddress } from '#test/stack/database.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace } from '#test/stack/worker.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { ensureSchedules, recurring } from '#worker/schedules.ts';
import { unknownActivity } from '#worker/unknown-activity.ts';

// The bundle of the workflows may have to be made first.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let connection: Connection;
let temporal: Client;
beforeAll(async () => {
  const namespace = await createNamespace();
  connection = await Connection.connect({ address: temporalAddress() });
  temporal = new Client({ connection, namespace });
});
afterAll(() => connection?.close());

test('an unknown activity keeps its attempts for a worker that knows it', async () => {
  const native = await NativeConnection.connect({ address: temporalAddress() });
  onTestFinished(() => native.close());
  const worker = await Worker.create({
    connection: native,
    namespace: temporal.options.namespace,
    taskQueue: 'platform',
    workflowBundle: await workflowBundle(bundleDir(), new DefaultLogger('ERROR')),
    activities: { default: unknownActivity },
  });
  const running = worker.run();
  const handle = await temporal.workflow.start('reconcile', {
    workflowId: 'of-a-newer-release',
    taskQueue: 'platform',
  });
  const pending = async () => (await handle.describe()).raw.pendingActivities?.[0];
  const step = await until(pending, (one) => one?.lastFailure != null, 60_000);
  expect(step?.lastFailure?.applicationFailureInfo).toMatchObject({ type: 'unknown_activity', nonRetryable: false });
  expect([step?.attempt, Number(step?.maximumAttempts), Number(step?.currentRetryInterval?.seconds)]).toEqual([
    2, 3, 60,
  ]);
  await handle.terminate();
  worker.shutdown();
  await running;
});

test('the last worker to start sets the schedules, and keeps foreign ones and pauses', async () => {
  const action = { type: 'startWorkflow', workflowType: 'reconcile', taskQueue: 'platform' } as const;
  for (const scheduleId of ['schedule:of-another-release', 'of-somebody-else'])
    await temporal.schedule.create({ scheduleId, spec: { intervals: [{ every: '30 days' }] }, action });
  const standing = async () => {
    const ids: string[] = [];
    for await (const { scheduleId } of temporal.schedule.list()) ids.push(scheduleId);
    return ids.sort();
  };
  const ours = recurring.map(({ name }) => `schedule:${name}`);
  await until(standing, (ids) => ids.length === 2);
  await ensureSchedules(temporal);
  await temporal.schedule.getHandle('schedule:maintain').pause();
  await ensureSchedules(temporal);
  const all = [...ours, 'of-somebody-else'].sort();
  expect(await until(standing, (ids) => ids.join() === all.join())).toEqual(all);
  expect((await temporal.schedule.getHandle('schedule:maintain').describe()).state.paused).toBe(true);
});
