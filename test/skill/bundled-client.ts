/** The terminal client as it is served: one file, in a folder without packages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { bundleClient } from '#skill/client-bundle.ts';

/** Writes the bundled client to a temporary folder and returns its path. */
export function useBundledClient(): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-bundled-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'frontage.mjs');
  writeFileSync(path, bundleClient());
  return path;
}
