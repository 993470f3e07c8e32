/** Periods that people read about, each with its words. Pure. */
import { dayMs, hourMs, minuteMs } from './time.ts';

/** The old address can undo a change of address for so long, and is reserved meanwhile. */
export const undoMs = 72 * hourMs;
export const undoPeriod = `${undoMs / hourMs} hours`;

/** A deleted site or account can be restored for so long. */
export const deletionDelayMs = 30 * dayMs;
export const deletionDelay = `${deletionDelayMs / dayMs} days`;

/** The name of a site stays reserved for so long after its purge. */
export const nameReservedMs = 90 * dayMs;
export const nameReservedPeriod = `${nameReservedMs / dayMs} days`;

/** The address of an account stays reserved for so long after its purge. */
export const addressReservedMs = 90 * dayMs;

/** A code that deletes the account can be typed for so long. */
export const deletionCodeMs = 15 * minuteMs;
export const deletionCodePeriod = `${deletionCodeMs / minuteMs} minutes`;
