/** The worker process: it serves the configured task queues and relays the outbox. */
import { createHash } from 'node:crypto';
import {
  DefaultLogger,
  type LogLevel,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { createBuildActivities, createPlatformActivities } from '#activities/index.ts';
import { containerLimits } from '#activities/publishing/build.ts';
import { signalNextBuilds } from '#db/deployments/build-slots.ts';
import { announceBuilder } from '#db/deployments/builder-capacity.ts';
import { startRelay } from '#db/outbox.ts';
import { openSandbox } from '#providers/sandbox/factory.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { queues } from '#rules/workflow-ids.ts';
import { type Config, readConfig } from '#runtime/config.ts';
import { createDeps, type Deps } from '#runtime/deps.ts';
import { activityInterceptors } from './activity-interceptor.ts';
import { serveScreenshots } from './browser.ts';
import { workflowBundle } from './bundle.ts';
import { createPriority } from './priority.ts';
import { ensureSchedules } from './schedules.ts';
import { unknownActivity } from './unknown-activity.ts';

const pinoLevels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

const config = readConfig();
const deps = createDeps(config, { name: 'worker' });
const tracing =
  config.tracing &&
  (await import('./tracing.ts')).startWorkerTracing({ ...deps, tracing: config.tracing, process: 'worker' });
const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
  deps.log[pinoLevels[level]](meta?.error ? { err: meta.error, ...meta } : (meta ?? {}), message);
});
const { metrics } = config;
Runtime.install({
  logger,
  shutdownSignals: [],
  ...(metrics?.temporalPort === undefined
    ? {}
    : { telemetryOptions: { metrics: { prometheus: { bindAddress: `${metrics.host}:${metrics.temporalPort}` } } } }),
});

const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
const isForPlatform = config.queues.includes('platform');
// In parallel: they have no dependencies on each other. The server takes a second for the schedules.
const scheduled = isForPlatform ? untilReachable(ensureSchedulesInTime) : undefined;
const [sandbox, connection, bundle] = await Promise.all([
  config.queues.includes('builds') ? openBuildSandbox(config, deps) : undefined,
  untilReachable(() => NativeConnection.connect({ address: config.temporal.address })),
  isForPlatform ? workflowBundle(config.dataDir, logger, tracing?.workflowModules) : undefined,
]);
const common: Omit<WorkerOptions, 'taskQueue'> = {
  connection,
  namespace: config.temporal.namespace,
  maxHeartbeatThrottleInterval: '1s',
  interceptors: activityInterceptors(deps, tracing),
  ...(tracing ? { sinks: tracing.sinks } : {}),
};
const priority = createPriority();
const workers = await createWorkers();
const stopRelay = isForPlatform ? startRelay(deps) : undefined;
const withdrawBuilder = sandbox ? await untilReachable(() => offerSlots(sandbox)) : undefined;
// It starts meanwhile: a publish does not wait for a browser.
const browser =
  config.screenshots && config.queues.includes('screenshots')
    ? serveScreenshots(deps, common, { owner: ownerName(config.secret), giveWay: priority.giveWay })
    : undefined;
const running = Promise.all([...workers.map((worker) => worker.run()), browser?.ended]);

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, shutDown);
process.once('disconnect', shutDown);
const isRunning = () => workers.every((worker) => worker.getState() === 'RUNNING');
const observing =
  metrics &&
  (await (
    await import('#runtime/telemetry/metrics-server.ts')
  ).serveMetrics(deps, isRunning, {
    // The role of a worker that serves only builds cannot read what they count (db/builds-role.ts).
    ofDatabase: isForPlatform,
  }));
await scheduled;
process.send?.({ ready: true });
isReady();
deps.log.info({ queues: config.queues, sandbox: sandbox?.kind }, 'ready');

try {
  await running;
} finally {
  await observing?.close();
  await withdrawBuilder?.();
  await stopRelay?.();
  isReady();
  await sandbox?.close();
  await connection.close();
  await deps.close();
  await tracing?.close();
}

function shutDown(): void {
  browser?.stop();
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

async function createWorkers(): Promise<Worker[]> {
  const made: Worker[] = [];
  if (bundle) {
    made.push(
      await Worker.create({
        ...common,
        taskQueue: queues.platform,
        workflowBundle: bundle,
        activities: { ...createPlatformActivities(deps), default: unknownActivity },
        shutdownGraceTime: '10 seconds',
        shutdownForceTime: '20 seconds',
      }),
    );
  }
  if (sandbox) {
    made.push(
      await Worker.create({
        ...common,
        taskQueue: queues.builds,
        activities: { ...createBuildActivities({ ...deps, sandbox }), default: unknownActivity },
        interceptors: {
          activity: [
            ...(common.interceptors?.activity ?? []),
            () => ({ inbound: { execute: (input, next) => priority.first(() => next(input)) } }),
          ],
        },
        maxConcurrentActivityTaskExecutions: config.buildSlots,
        // An interrupted build restarts on another worker, and it should do so at once.
        shutdownGraceTime: '1 second',
        shutdownForceTime: '20 seconds',
      }),
    );
  }
  return made;
}

async function offerSlots({ kind }: Sandbox): Promise<() => Promise<void>> {
  const withdraw = await announceBuilder(deps, { sandbox: kind, slots: config.buildSlots });
  await deps.em().transactional((tx) => signalNextBuilds(tx, deps.clock));
  return withdraw;
}

/** Retries until the server responds: a worker may start before its dependencies. */
/** A call to a server that has just started may never be answered; the next one is. */
function ensureSchedulesInTime(): Promise<void> {
  const deadline = deps.clock.now().getTime() + 10_000;
  return deps.temporal.withDeadline(deadline, () => ensureSchedules(deps.temporal));
}

async function untilReachable<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      deps.log.warn({ err: error }, 'the workflow engine or the database is not responding yet');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function openBuildSandbox(config: Config, { log }: Deps): Promise<Sandbox | undefined> {
  const { sandbox, dataDir, dockerHost, secret, warmSandboxes, buildSlots } = config;
  return openSandbox({
    mode: sandbox,
    dataDir,
    dockerHost,
    owner: ownerName(secret),
    warm: { count: warmSandboxes, slots: buildSlots, limits: containerLimits, after: ready },
    log: { info: (text) => log.info(text), warn: (text) => log.warn(text) },
    onProgress: (line) => log.info(line),
  });
}

/** Stable id of this installation, for what it starts on a machine. */
function ownerName(secret: string): string {
  return createHash('sha256').update(`sandbox owner ${secret}`).digest('hex').slice(0, 16);
}
