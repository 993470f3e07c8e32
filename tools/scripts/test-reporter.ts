/**
 * Summarises a run for tools/scripts/test.ts: what passed, failed and was skipped, and why, and how long each file took.
 * Files that cannot be loaded count too.
 */
import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export type Skip = { name: string; reason: string };
/** Milliseconds of one test file: its process and imports, and its tests and hooks. */
export type FileTimes = { file: string; project: string; startMs: number; testMs: number };
export type Summary = {
  passed: number;
  failed: number;
  skipped: Skip[];
  files: FileTimes[];
  /** What the product declares and a whole run did not see; added by test.ts. */
  unseen?: string[];
};

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const summary: Summary = {
      passed: inState('passed').length,
      failed: inState('failed').length + modules.filter(failedItself).length + unhandled.length,
      skipped: inState('skipped').map((test) => ({ name: nameOf(test), reason: reasonOf(test) })),
      files: modules.map(timesOf),
    };
    writeFileSync(process.env.FRONTAGE_TEST_SUMMARY as string, JSON.stringify(summary));
  }
}

/** The file or one of its suites failed outside of any test: an import, a hook. */
function failedItself(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}

function timesOf(module: TestModule): FileTimes {
  const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return {
    file: module.relativeModuleId,
    project: module.project.name,
    startMs: environmentSetupDuration + prepareDuration + setupDuration + collectDuration,
    testMs: duration,
  };
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
}
