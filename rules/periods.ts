/** Periods that people read about, each with its words. Pure. */
import { counted } from './counted.ts';
import { dayMs, hourMs, minuteMs } from './time.ts';

/** In words: "10 minutes", "72 hours", "30 days". */
export function period(ms: number): string {
  if (ms > 3 * dayMs && ms % dayMs === 0) return counted(ms / dayMs, 'day');
  return ms % hourMs === 0 ? counted(ms / hourMs, 'hour') : counted(ms / minuteMs, 'minute');
}

/** A sign-in link can be opened for so long; each code that it shows is valid for so long. */
export const signinLinkMs = 15 * minuteMs;
export const signinCodeMs = 10 * minuteMs;

/** The owner can answer an access request for so long, and the agent can then collect its access for so long. */
export const accessRequestMs = 15 * minuteMs;

/** A call that the owner allowed once can be repeated for so long. */
export const allowanceMs = 10 * minuteMs;

/** Each address can confirm a change of address for so long. */
export const addressConfirmMs = dayMs;

/** The old hostname of a renamed site redirects for so long. */
export const formerNameMs = 90 * dayMs;

/** The old address can undo a change of address for so long, and is reserved meanwhile. */
export const undoMs = 72 * hourMs;
export const undoPeriod = period(undoMs);

/** A deleted site or account can be restored for so long. */
export const deletionDelayMs = 30 * dayMs;
export const deletionDelay = period(deletionDelayMs);

/** The name of a site stays reserved for so long after its purge. */
export const nameReservedMs = 90 * dayMs;
export const nameReservedPeriod = period(nameReservedMs);

/** The address of an account stays reserved for so long after its purge. */
export const addressReservedMs = 90 * dayMs;

/** A code that deletes the account can be typed for so long. */
export const deletionCodeMs = 15 * minuteMs;
export const deletionCodePeriod = period(deletionCodeMs);
