/**
 * Summarises a run for tools/scripts/test.ts: what passed, failed and was skipped, and why, and how long each file took.
 * Files that cannot be loaded count too.
 */
import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Skip } from './test-skips.ts';

/** Milliseconds of one test file: its process and imports, and its tests and hooks. */
export type FileTimes = { file: string; project: string; startMs: number; testMs: number };
export type Summary = {
  passed: number;
  failed: number;
  /** Names of the failed tests, and of files and suites that failed outside of any test. */
  failures: string[];
  skipped: Skip[];
  files: FileTimes[];
  /** Tests that failed and passed when repeated. */
  repeated: string[];
  /** What the product declares and a whole run did not see; added by test.ts. */
  unseen?: string[];
};

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const failures = [
      ...inState('failed').map(nameOf),
      ...modules.filter(failedItself).map(({ relativeModuleId }) => relativeModuleId),
      ...unhandled.map(({ message }) => message.split('\n')[0] ?? ''),
    ];
    const summary: Summary = {
      passed: inState('passed').length,
      failed: failures.length,
      failures,
      skipped: inState('skipped').filter(isSelected).map(skipOf),
      files: modules.map(timesOf),
      repeated: tests.filter((test) => test.diagnostic()?.flaky).map(nameOf),
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

/** Tests that `-t` leaves out are in the state `skipped` too. Vitest compares it with the names of suites and test, joined by spaces. */
function isSelected({ project, fullName }: TestCase): boolean {
  const { testNamePattern } = project.config;
  return !testNamePattern || fullName.replaceAll(' > ', ' ').search(testNamePattern) >= 0;
}

/** A missing program has a tag that skips its tests. A test that detects it at run time notes the tag’s name as its reason. */
function skipOf(test: TestCase): Skip {
  const result = test.result();
  const note = (result.state === 'skipped' && result.note) || 'no reason given';
  const missing = test.project.config.tags.filter(
    ({ name, skip }) => test.tags.includes(name) && (skip || note.startsWith(`${name}: `)),
  );
  const programs = missing.map(({ name, description = '' }) => ({ name, get: description }));
  const reason = programs.map(({ name }) => name).join(', ') || note;
  return { file: test.module.relativeModuleId, name: nameOf(test), reason, programs };
}
