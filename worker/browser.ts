/** The queue of screenshots and checks: served where this machine has a browser, from the moment that it runs. */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createBrowserActivities } from '#activities/index.ts';
import { openRenderer, type Renderer, type RendererOptions } from '#providers/browser/renderer.ts';
import { queues } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { unknownActivity } from './unknown-activity.ts';

/** The renderer shows one page at a time, and accounts take turns: so many wait there, and none is behind all of another's. */
const activitiesMax = 100;

/** Serves the queue until `stop` is called. Without a browser it serves nothing, and the log says why. */
export function serveScreenshots(
  deps: Deps,
  common: Omit<WorkerOptions, 'taskQueue'>,
  options: Pick<RendererOptions, 'owner' | 'giveWay'>,
) {
  const stopping = Promise.withResolvers<void>();

  async function run(): Promise<void> {
    const renderer = await openBrowser(deps, options);
    if (!renderer) return await stopping.promise;
    const worker = await Worker.create({
      ...common,
      taskQueue: queues.screenshots,
      activities: { ...createBrowserActivities({ ...deps, renderer }), default: unknownActivity },
      maxConcurrentActivityTaskExecutions: activitiesMax,
      shutdownGraceTime: '1 second',
      shutdownForceTime: '20 seconds',
    });
    const running = worker.run();
    await Promise.race([running, stopping.promise]);
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
    await renderer.close();
  }

  return { ended: run(), stop: () => stopping.resolve() };
}

async function openBrowser(
  { config, log }: Deps,
  options: Pick<RendererOptions, 'owner' | 'giveWay'>,
): Promise<Renderer | undefined> {
  try {
    const renderer = await openRenderer({ chromium: config.chromium, warn: (text) => log.warn(text), ...options });
    log.info({ browser: renderer.product, wall: renderer.wall }, 'pages are shown in Chromium');
    return renderer;
  } catch (error) {
    log.warn({ err: error }, 'no page can be shown on this machine: screenshots and checks wait for another worker');
    return undefined;
  }
}
