/** The order in which test files start. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take minutes: begun as their size has it, the last of them runs alone when all else is done. */
const long = ['kills', 'publishing', 'several', 'previews'].map((name) => `/test/acceptance/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? long.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
