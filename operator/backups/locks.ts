/**
 * Who writes a backup into a place at this moment, and who removes from it. A backup counts on parts that are there already and that no name leads to
 * yet, so the two never run at once: each writes its own mark first and then looks for the others', so that of two at least one sees the other.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { BackupFault } from './fault.ts';
import type { Place } from './repository.ts';

const beatMs = 60_000;
/** A mark that was not renewed for so long is of a process that was killed. */
const staleMs = 15 * 60_000;
const stepMs = 1_000;

type Kind = 'create' | 'remove';
export type Mark = {
  /** Whether others have a mark of these kinds. */
  meets(...kinds: Kind[]): Promise<boolean>;
  /** Throws BackupFault where somebody took this process for dead, and may have gone on without it. */
  requireHeld(): Promise<void>;
};

export async function whileMarked<T>({ marks }: Place, kind: Kind, act: (mark: Mark) => Promise<T>): Promise<T> {
  const own = `${kind}-${randomUUID()}`;
  const isHeld = async () => (await marks.list()).some(({ name }) => name === own);
  await marks.write(own);
  const beat = async () => (await isHeld()) && (await marks.write(own));
  const beating = setInterval(() => void beat().catch(() => {}), beatMs).unref();
  try {
    return await act({
      async meets(...kinds) {
        const all = await marks.list();
        // By the place's own clock: one of these marks was written a moment ago.
        const now = Math.max(...all.map(({ at }) => at));
        const others = all.filter(({ name }) => name !== own && kinds.some((one) => name.startsWith(`${one}-`)));
        const dead = others.filter(({ at }) => now - at > staleMs);
        // Gone, so that who was only held up sees that nobody waited.
        for (const { name } of dead) await marks.remove(name);
        return others.length > dead.length;
      },
      async requireHeld() {
        if (await isHeld()) return;
        throw new BackupFault('This was held up for so long that it was taken for dead. Run it again.');
      },
    });
  } finally {
    clearInterval(beating);
    await marks.remove(own);
  }
}

/** Waits until nothing is being removed any more. */
export async function outwait(mark: Mark, ...kinds: Kind[]): Promise<void> {
  while (await mark.meets(...kinds)) await pause(stepMs);
}
