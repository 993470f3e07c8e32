/** The order in which test files start. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute start first: otherwise the last of them runs alone when everything else is done. */
const long = [
  'acceptance/publishing',
  'acceptance/previews',
  'sandbox/warm',
  'sandbox/hostile',
  'sandbox/sites',
  'renderings/screenshots',
  'domains/life',
  'publishing/builds-role',
  'api/hostile',
  'console/business-journeys',
  'console/business-pages',
  'scanning/scanning',
  'local/stack',
  'previews/races',
  'comments/welcome',
  'web/accessibility',
].map((name) => `/test/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}

function place({ moduleId }: TestSpecification): number {
  const at = long.findIndex((path) => moduleId.endsWith(path));
  return at < 0 ? long.length : at;
}
