/** The only source of the time of day, so that tests can set it. */
export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };
