/** A worker of the platform's queue, with the relay of the outbox, in a namespace of Temporal that no other test has. */
import { randomBytes } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerInterceptors } from '@temporalio/worker';
import { createBrowserActivities, createBuildActivities, createPlatformActivities } from '#activities/index.ts';
import { startRelay } from '#db/outbox.ts';
import type { Renderer } from '#providers/browser/renderer.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { queues } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { searchAttributes } from '#tools/local/services/temporal.ts';
import { activityInterceptors } from '#worker/activity-interceptor.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { bundleDir, temporalAddress } from './database.ts';

// The SDK tells of every start and stop; a test that fails says more.
const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });

const keyword = 2;

/** Makes the namespace; name it in the configuration of what is to use it. */
export async function createNamespace(address = temporalAddress()): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    const day = { seconds: (24 * 3600) as unknown as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: day });
    await addSearchAttributes(connection, namespace);
    return namespace;
  } finally {
    await connection.close();
  }
}

/** Tries until the server takes them: a new namespace is known to all of it a moment after it was made. */
export async function addSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const attributes = Object.fromEntries(searchAttributes.map((name) => [name, keyword]));
  for (let tries = 0; ; tries++) {
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/**
 * Serves the platform's queue of `deps`, whose configuration names the namespace, until the answer is closed; with a sandbox the
 * queue of builds too, with a renderer that of screenshots.
 */
export async function startWorker(
  deps: Deps,
  options: { sandbox?: Sandbox; renderer?: Renderer; interceptors?: WorkerInterceptors } = {},
) {
  const connection = await NativeConnection.connect({ address: deps.config.temporal.address });
  const { sandbox, renderer, interceptors } = options;
  const common = {
    connection,
    namespace: deps.config.temporal.namespace,
    shutdownForceTime: '2 seconds' as const,
    maxHeartbeatThrottleInterval: '1s' as const,
    interceptors: { activity: [...(activityInterceptors(deps).activity ?? []), ...(interceptors?.activity ?? [])] },
  };
  const workers = [
    await Worker.create({
      ...common,
      taskQueue: queues.platform,
      workflowBundle: await workflowBundle(bundleDir(), logger),
      activities: createPlatformActivities(deps),
    }),
  ];
  if (sandbox) {
    const activities = createBuildActivities({ ...deps, sandbox });
    workers.push(await Worker.create({ ...common, taskQueue: queues.builds, activities }));
  }
  if (renderer) {
    const activities = createBrowserActivities({ ...deps, renderer });
    workers.push(await Worker.create({ ...common, taskQueue: queues.screenshots, activities }));
  }
  const stopRelay = startRelay(deps);
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    async close() {
      await stopRelay();
      for (const worker of workers) worker.shutdown();
      await running.catch(unlessStillInUse);
      await connection.close();
    },
  };
}

/** On a busy machine the SDK may still count a poll of a worker that has just drained. */
function unlessStillInUse(error: Error): void {
  if (!error.message.startsWith('Worker still in use')) throw error;
}

/** What is done around the next run of an activity, by its name, and what a worker takes so that it is. */
export function aroundActivities() {
  const around = new Map<string, (act: () => Promise<unknown>) => Promise<unknown>>();
  const interceptors: WorkerInterceptors = {
    activity: [
      () => ({
        inbound: {
          async execute(input, next) {
            const { activityType } = Context.current().info;
            const act = around.get(activityType) ?? ((go) => go());
            around.delete(activityType);
            return await act(() => next(input));
          },
        },
      }),
    ],
  };
  return { around, interceptors };
}
