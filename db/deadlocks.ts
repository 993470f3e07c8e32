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
