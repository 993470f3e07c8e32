/** The named sets of options with which workflows call activities. */
import type { ActivityOptions } from '@temporalio/workflow';

/** Work on rows and files: quick, repeated until the part it needs answers again. */
export const quick: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
};

/** Questions to the DNS and writes to our zones: seconds, with a server that does not answer among them. */
export const lookup: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** An order at a certificate authority, with its validations. What the authority refuses is no failure of the step. */
export const acmeOrder: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '15 seconds' },
};

/**
 * A mail: the server may be away for days. A try beats its heart, so that what a killed worker had in hand is tried again soon; no try
 * begins while another is at it (db/advisory-lock.ts).
 */
export const delivery: ActivityOptions = {
  taskQueue: 'platform',
  scheduleToCloseTimeout: '4 days',
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '15 minutes' },
};

/** Questions to a provider that may be away for hours: whoever waits for an answer asks by himself meanwhile. */
export const providerQuery: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5 minutes' },
};

/** Asking a provider: several calls, each of which may take its time. It beats its heart: somebody waits to hear that he has paid. */
export const provider: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** What others should have asked a provider: up to a hundred calls. The schedule's next run takes up what one leaves. */
export const reconcile: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '10 minutes',
  retry: { maximumAttempts: 1 },
};

/** All accounts one after the other; repeated, it finds what is done. */
export const ledger: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '45 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 10, maximumAttempts: 3 },
};

/** Money on its way back: an account that is empty today may be filled tomorrow. */
export const refund: ActivityOptions = {
  taskQueue: 'platform',
  scheduleToCloseTimeout: '7 days',
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30 minutes' },
};

/** Reading both repositories: longer than other work on files, and a repository that cannot be read fails in the end. */
export const snapshot: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15 seconds', maximumAttempts: 6 },
};

/** Hours of work on files, a piece at a time: it beats its heart at each, and a repetition finds what is done. */
export const housekeeping: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '15 minutes',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes', maximumAttempts: 3 },
};

/**
 * A build. It beats its heart each second, so a killed worker is noticed in ten; a cancelled build is over only when its container
 * is gone. The time limit of the build itself is the sandbox's; this one is for a machine that hangs.
 */
export const build: ActivityOptions = {
  taskQueue: 'builds',
  // Longer than any queue of builds should be: where no worker serves builds, a publish fails and does not wait for ever.
  scheduleToStartTimeout: '1 hour',
  startToCloseTimeout: '20 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15 seconds', maximumAttempts: 6 },
};

/**
 * Reading what a version has new: seconds as a rule, minutes for the largest. It beats its heart at each slice, so that one that hangs a
 * process does it five times at most, within ten minutes.
 */
export const scanning: ActivityOptions = {
  taskQueue: 'platform',
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 6, maximumInterval: '10 minutes', maximumAttempts: 5 },
};
