/**
 * Transactions lock rows in this order, whichever of them they need: a token, payout accounts, the registrable name of a domain,
 * sites in the order of their ids, an account; then rows of a site (domain, deployment, calendars, agreement, payment,
 * booking, rendering) and the certificate of a domain; last `mails of` an account and an address. Adding a row that refers to a
 * site locks the site too (`holdSite`), and some triggers update it.
 */
import { DeadlockException } from '@mikro-orm/core';

const triesMax = 6;

/** Repeats a transaction that the database ended because it and another one waited for each other's locks. */
export async function repeatDeadlocked<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof DeadlockException) || tries === triesMax) throw error;
    }
  }
}
