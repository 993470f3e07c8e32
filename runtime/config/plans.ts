import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validatePlans } from '#rules/plans.ts';

/** The project's own catalog. */
export const ownCatalog = join(import.meta.dirname, '../../rules/plans.json');

/** Reads the catalog of plans from a file. Returns all its faults if it has any. */
export function readPlans(path: string): ReturnType<typeof validatePlans> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { faults: [`${path} cannot be read as JSON`] };
  }
  return validatePlans(content);
}
