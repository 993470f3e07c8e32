/** The only source of the time of day, so that a test can move it. */
export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };
