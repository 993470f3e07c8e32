/** A worker of the platform's queue, with the relay of the outbox, in a namespace of Temporal that no other test has. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createPlatformActivities } from '../../activities/index.ts';
import { startRelay } from '../../db/outbox.ts';
import type { Deps } from '../../deps.ts';
import { searchAttributes } from '../../local/temporal.ts';
import { queues } from '../../workflows/ids.ts';
import { temporalAddress } from './database.ts';

// The SDK tells of every start and stop; a test that fails says more.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const keyword = 2;

/** Makes the namespace; name it in the configuration of what is to use it. */
export async function createNamespace(address = temporalAddress()): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    const day = { seconds: (24 * 3600) as unknown as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: day });
    const attributes = Object.fromEntries(searchAttributes.map((name) => [name, keyword]));
    const add = () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
    // A new namespace is known to the whole server a moment after it was made.
    for (let tries = 0; ; tries++) {
      const failed = await add().then(
        () => undefined,
        (error: Error) => error,
      );
      if (!failed) return namespace;
      if (tries === 100) throw failed;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await connection.close();
  }
}

/** Serves the platform's queue of `deps`, whose configuration names the namespace, until the answer is closed. */
export async function startWorker(deps: Deps) {
  const connection = await NativeConnection.connect({ address: deps.config.temporal.address });
  const worker = await Worker.create({
    connection,
    namespace: deps.config.temporal.namespace,
    taskQueue: queues.platform,
    workflowsPath: join(import.meta.dirname, '../../workflows/index.ts'),
    activities: createPlatformActivities(deps),
    shutdownForceTime: '2 seconds',
  });
  const stopRelay = startRelay(deps);
  const running = worker.run();
  return {
    async close() {
      await stopRelay();
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
