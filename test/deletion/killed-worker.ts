/**
 * A worker that kills its own process: with SIGKILL, after an activity has had its effect and before that is reported.
 * `KILL_AFTER` names the activity; `CLOCK_AHEAD` is how many milliseconds its clock is ahead.
 */
import { Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerInterceptors } from '@temporalio/worker';
import { createPlatformActivities } from '#activities/index.ts';
import { startRelay } from '#db/outbox.ts';
import { queues } from '#rules/workflow-ids.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import { activityInterceptors } from '#worker/activity-interceptor.ts';
import { workflowBundle } from '#worker/bundle.ts';

const { KILL_AFTER: last, CLOCK_AHEAD: ahead } = process.env;
const clock = { now: () => new Date(Date.now() + Number(ahead)) };
const config = readConfig();
const deps = createDeps(config, { name: 'worker', clock });

// The mail server of the fixture is not there: each attempt to send would be a warning.
const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });

const killing: WorkerInterceptors = {
  activity: [
    () => ({
      inbound: {
        async execute(input, next) {
          const result = await next(input);
          if (Context.current().info.activityType === last) process.kill(process.pid, 'SIGKILL');
          return result;
        },
      },
    }),
  ],
};

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: config.temporal.address }),
  namespace: config.temporal.namespace,
  taskQueue: queues.platform,
  workflowBundle: await workflowBundle(config.dataDir, logger),
  activities: createPlatformActivities(deps),
  interceptors: { activity: [...(activityInterceptors(deps).activity ?? []), ...(killing.activity ?? [])] },
});
startRelay(deps);
const running = worker.run();
process.send?.('ready');
await running;
