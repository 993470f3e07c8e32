/** A folder for the test of `npm start`, which runs when nothing else does: it holds a start to its seconds. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeRunFolder, removeRunFolder } from '#test/stack/run-folder.ts';

export default function setup(project: TestProject): () => void {
  const folder = makeRunFolder();
  mkdirSync(join(folder, 'sandbox'));
  project.provide('runFolder', folder);
  return () => removeRunFolder(folder);
}
