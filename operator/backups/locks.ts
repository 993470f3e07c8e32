/**
 * Locks of processes that create or remove backups. A backup relies on existing parts that no name refers to yet, so
 * creation and removal never run at once. Each process writes its own lock first and then checks for others, so that of
 * two at least one sees the other.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { minuteMs } from '#rules/time.ts';
import { BackupFault } from './fault.ts';
import type { BackupRepository } from './repository.ts';

const renewMs = 60_000;
/** A lock that has not been renewed for this long belongs to a killed process. */
const staleMs = 15 * minuteMs;
const stepMs = 1_000;

type Kind = 'create' | 'remove';
export type Lock = {
  /** Whether others hold a lock of these kinds. */
  othersHold(...kinds: Kind[]): Promise<boolean>;
  /** Throws BackupFault if another process took this lock for stale and removed it. */
  requireHeld(): Promise<void>;
};

export async function withLock<T>(
  { locks }: BackupRepository,
  kind: Kind,
  act: (lock: Lock) => Promise<T>,
): Promise<T> {
  const own = `${kind}-${randomUUID()}`;
  const isHeld = async () => (await locks.list()).some(({ name }) => name === own);
  await locks.write(own);
  const renew = async () => (await isHeld()) && (await locks.write(own));
  const renewing = setInterval(() => void renew().catch(() => {}), renewMs).unref();
  try {
    return await act({
      async othersHold(...kinds) {
        const all = await locks.list();
        // By the repository's own clock: one of these locks was written a moment ago.
        const now = Math.max(...all.map(({ at }) => at));
        const others = all.filter(({ name }) => name !== own && kinds.some((one) => name.startsWith(`${one}-`)));
        const dead = others.filter(({ at }) => now - at > staleMs);
        // Removed, so that a process that was only delayed notices it.
        for (const { name } of dead) await locks.remove(name);
        return others.length > dead.length;
      },
      async requireHeld() {
        if (await isHeld()) return;
        throw new BackupFault('This command was delayed so long that its lock expired. Run it again.');
      },
    });
  } finally {
    clearInterval(renewing);
    await locks.remove(own);
  }
}

/** Waits until no other process holds a lock of these kinds. */
export async function waitForLocks(lock: Lock, ...kinds: Kind[]): Promise<void> {
  while (await lock.othersHold(...kinds)) await pause(stepMs);
}
