/**
 * Counts a run for tools/scripts/test.ts: what passed, failed and was skipped, and why. Files that cannot be loaded
 * count too.
 */
import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export type Skip = { name: string; reason: string };
export type Summary = { passed: number; failed: number; skipped: Skip[] };

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const summary: Summary = {
      passed: inState('passed').length,
      failed: inState('failed').length + modules.filter(failedItself).length + unhandled.length,
      skipped: inState('skipped').map((test) => ({ name: nameOf(test), reason: reasonOf(test) })),
    };
    writeFileSync(process.env.FRONTAGE_TEST_SUMMARY as string, JSON.stringify(summary));
  }
}

/** The file or one of its suites failed outside of any test: an import, a hook. */
function failedItself(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
}
