/** The named sets of options with which workflows call activities. */
import type { ActivityOptions } from '@temporalio/workflow';
import { queues } from '#rules/workflow-ids.ts';

/** Quick work on rows and files, retried until the database or store is available again. */
export const quick: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
};

/** DNS queries and writes to our zones: seconds, even if a name server does not answer. */
export const lookup: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** An order at a certificate authority, with its validations. A refusal by the authority does not fail the activity. */
export const acmeOrder: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '15 seconds' },
};

/**
 * A mail: the server may be unavailable for days. An attempt heartbeats, so that the attempt of a killed worker is retried soon. An advisory
 * lock prevents two attempts at once (db/advisory-lock.ts).
 */
export const delivery: ActivityOptions = {
  taskQueue: queues.platform,
  scheduleToCloseTimeout: '4 days',
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '15 minutes' },
};

/** Queries to a provider that may be unavailable for hours. API calls that wait for the result poll the provider themselves. */
export const providerQuery: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5 minutes' },
};

/** Several calls to a provider, each of which may be slow. It heartbeats, because a payer waits for the confirmation. */
export const provider: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** Queries that lost workflows should have made: up to a hundred calls. The schedule's next run continues. */
export const reconcile: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '10 minutes',
  retry: { maximumAttempts: 1 },
};

/** All accounts, one after another. A retry skips what is done. */
export const ledger: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '45 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 10, maximumAttempts: 3 },
};

/** A refund: an account without funds today may have some tomorrow. */
export const refund: ActivityOptions = {
  taskQueue: queues.platform,
  scheduleToCloseTimeout: '7 days',
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30 minutes' },
};

/** Reads both repositories: slower than other work on files, with a limit on attempts for an unreadable repository. */
export const snapshot: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15 seconds', maximumAttempts: 6 },
};

/** Hours of work on files, in pieces: it heartbeats at each, and a retry skips what is done. */
export const housekeeping: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '15 minutes',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes', maximumAttempts: 3 },
};

/** Removes the parts of a deleted site. It heartbeats at each, and a retry removes what is left. */
export const purge: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
};

/**
 * A build. It heartbeats each second, so a killed worker is noticed in ten. A cancelled build ends when its container has been removed.
 * The worker enforces the build's time limit (providers/sandbox/run.ts), so the container of a dead worker has none until it is removed.
 * The timeout here is for a machine that hangs.
 */
export const build: ActivityOptions = {
  taskQueue: queues.builds,
  // Longer than any queue of builds should be: without a builds worker, a publish fails instead of waiting for ever.
  scheduleToStartTimeout: '1 hour',
  startToCloseTimeout: '20 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15 seconds', maximumAttempts: 6 },
};

/**
 * A scan of the new files of a version: usually seconds, minutes for the largest. It heartbeats at each slice, so that a file that hangs a
 * process does so five times at most, within ten minutes.
 */
export const scanning: ActivityOptions = {
  taskQueue: queues.platform,
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 6, maximumInterval: '10 minutes', maximumAttempts: 5 },
};

/**
 * Pages in a browser. The activity itself limits the time of each page, and its browser ends with it. A page that fails is an outcome;
 * attempts are for workers that are killed.
 */
export const rendering: ActivityOptions = {
  taskQueue: queues.screenshots,
  // Without a worker that has a browser, the rendering fails instead of waiting for ever.
  scheduleToStartTimeout: '15 minutes',
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15 seconds', maximumAttempts: 3 },
};
