/**
 * The order of locks, of which each transaction takes the part that it needs: a token, payout accounts, the registrable name
 * of a domain, sites by their ids, an account, rows of a site (domain, deployment, calendars, agreement, payment, booking,
 * rendering), the certificate of a domain, `mails of` an account, an address. Inserting a row that refers to a site locks
 * the site, too (`lockSiteForKeyShare`), and some triggers update it.
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
