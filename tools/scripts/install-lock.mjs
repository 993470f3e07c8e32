/** One process installs at a time. The lock of a dead process is removed, also after a reboot. */
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identify, isRunning } from '#tools/local/process-id.mjs';

/**
 * Runs `action` when this process holds the lock; calls `onWait` once if another one does.
 * @param {string} file
 * @param {() => void} onWait
 * @param {() => Promise<void>} action
 */
export async function withInstallLock(file, onWait, action) {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    for (let waits = false; !acquire(file); waits = true) {
      if (!waits) onWait();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new Error(`${folder} cannot be written (${message}). Free space on its disk, or give it to your user.`);
  }
  try {
    await action();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * True if this process now holds it.
 * @param {string} file
 */
function acquire(file) {
  try {
    writeFileSync(file, JSON.stringify(identify(process.pid)), { flag: 'wx' });
    return true;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOSPC') rmSync(file, { force: true }); // It is there, and empty.
    if (code !== 'EEXIST') throw error;
    removeStale(file);
    return false;
  }
}

/**
 * Of two processes that both find the holder dead, only one removes the lock: the other one might remove its successor.
 * @param {string} file
 */
function removeStale(file) {
  const guard = `${file}.check`;
  try {
    mkdirSync(guard);
  } catch {
    // Held for a few microseconds, unless its holder was killed in them.
    if (ageMs(guard) > 10_000) rmSync(guard, { recursive: true, force: true });
    return;
  }
  if (!isHeld(file)) rmSync(file, { force: true });
  rmdirSync(guard);
}

/** @param {string} file */
function isHeld(file) {
  try {
    return isRunning(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Between its creation and its content the file is empty.
    return ageMs(file) < 10_000;
  }
}

/** @param {string} path */
function ageMs(path) {
  try {
    return performance.timeOrigin + performance.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
