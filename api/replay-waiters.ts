/**
 * Requests of this process that wait for a running one with the same `Idempotency-Key`. All waiters of a key share one
 * database query, at increasing intervals.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type AppError, errors } from '#runtime/errors.ts';

const pauseMs = { first: 20, most: 1_000 };
/** The maximum of waiting requests per key and process. */
export const waitersMax = 50;

export type ConcurrentReplays = {
  /** Throws `rate_limited` if the maximum of requests already waits for this key. */
  requireRoom(key: string): void;
  /** Returns when the request is no longer running. Throws `rate_limited` if `stop` is aborted first. */
  wait(key: string, isRunning: () => Promise<boolean>, stop: AbortSignal): Promise<void>;
};

type Room = { waiting: number; over: Promise<void> };

export function concurrentReplays(): ConcurrentReplays {
  const rooms = new Map<string, Room>();

  function requireRoom(key: string): void {
    if ((rooms.get(key)?.waiting ?? 0) >= waitersMax) throw stillRuns();
  }

  function openRoom(key: string, isRunning: () => Promise<boolean>): Room {
    const room: Room = { waiting: 0, over: Promise.resolve() };
    rooms.set(key, room);
    room.over = watch(room, isRunning).finally(() => rooms.delete(key));
    room.over.catch(() => {});
    return room;
  }

  return {
    requireRoom,
    async wait(key, isRunning, stop) {
      requireRoom(key);
      const room = rooms.get(key) ?? openRoom(key, isRunning);
      room.waiting += 1;
      const stopped = Promise.withResolvers<void>();
      stop.addEventListener('abort', () => stopped.resolve(), { once: true });
      if (stop.aborted) stopped.resolve();
      try {
        await Promise.race([room.over, stopped.promise]);
      } finally {
        room.waiting -= 1;
      }
      if (stop.aborted) throw stillRuns();
    },
  };
}

/** Returns when the request has ended or no waiters are left. */
async function watch(room: Room, isRunning: () => Promise<boolean>): Promise<void> {
  for (let ms = pauseMs.first; ; ms = Math.min(ms * 2, pauseMs.most)) {
    await pause(ms);
    if (room.waiting === 0 || !(await isRunning())) return;
  }
}

function stillRuns(): AppError {
  return errors.rate_limited('An earlier call with this Idempotency-Key is still running.', {
    nextAction: 'Repeat the request with the same key in a few seconds to get the result of the earlier call.',
    retryAfterSeconds: 3,
  });
}
