/** A PATH with only the named programs, none of which does anything. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

export function onlyPrograms(...names: string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-path-'));
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\n');
    chmodSync(join(folder, name), 0o755);
  }
  vi.stubEnv('PATH', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
}

/** How an ordinary user becomes root, where `sudo` is among the programs. */
export const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
