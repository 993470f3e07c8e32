/**
 * `npm test`: runs all tests on real services; `npm run campaigns`: runs the campaigns, in their short form or with `--long`. Other arguments
 * go to vitest. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCampaigns } from './campaigns.ts';
import { readUnseen, recording } from './test-record.ts';
import type { Summary } from './test-reporter.ts';
import { describeSkip, describeSkips, type Skip } from './test-skips.ts';
import { describeTimes } from './test-times.ts';

const root = join(import.meta.dirname, '../..');
const compiled = join(root, 'node_modules', '.cache', 'compiled');
/** All of `npm test`, which has to see everything that the product declares. The variable has a part of it compared too. */
const isWhole = process.argv.length === 2 || process.env.FRONTAGE_TEST_UNSEEN === '1';
const inCi = /^(1|true)$/i.test(process.env.CI ?? '');
/**
 * In CI a failed test is repeated once, so that one late answer among thousands of tests does not refuse a change. Not in campaigns, whose
 * failures are findings.
 */
const repeats = inCi && !process.argv.includes('--campaigns') ? ['--retry=1'] : [];

async function main(): Promise<number> {
  const run = parseCampaigns(process.argv.slice(2));
  if (run.args === undefined) {
    console.log('0 passed, 0 failed');
    return 0;
  }
  return finish(await runVitest(run.args, run.env));
}

async function runVitest(args: string[], env: Record<string, string>): Promise<Summary> {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-summary-'));
  const file = join(folder, 'summary.json');
  const record = isWhole ? join(folder, 'record') : undefined;
  const recorded = record ? recording(record) : {};
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'test-reporter.ts')}`];
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...repeats, ...args], {
      cwd: root,
      stdio: 'inherit',
      // Test processes share compiled code.
      env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...env, ...recorded, FRONTAGE_TEST_SUMMARY: file },
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    // The parent process died: stop the tests.
    process.once('disconnect', () => child.kill('SIGTERM'));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    const summary: Summary = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : { passed: 0, failed: 0, failures: [], skipped: [], files: [], repeated: [] };
    // Vitest may fail without a failed test: no files, a broken set-up, a crash.
    if (code !== 0 || summary.failed > 0) return { ...summary, failed: Math.max(summary.failed, 1) };
    return record === undefined ? summary : { ...summary, unseen: readUnseen(record) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Prints the summary and returns the exit code. In CI a skip that `.ci/skips` does not name counts as failed. What the run did not see counts as
 * one failed test, unless such a skip explains it.
 */
function finish({ passed, failed, failures, skipped, files, repeated, unseen = [] }: Summary): number {
  if (files.length > 1) console.log(describeTimes(files));
  if (skipped.length > 0) console.log(describeSkips(skipped));
  for (const name of repeated) console.log(`failed at first, passed when repeated: ${name}`);
  const allowed = readAllowedSkips();
  const unplanned = skipped.filter((skip) => !allowed.some((part) => isAbout(part, skip)));
  const refused = inCi ? unplanned : [];
  if (refused.length > 0) {
    console.log('These skipped tests have no line in .ci/skips and were counted as failed:');
    for (const skip of refused) console.log(describeSkip(skip));
  }
  for (const name of unseen) console.log(`not seen: ${name}`);
  const isExplained = !inCi && unplanned.length > 0;
  if (unseen.length > 0 && isExplained)
    console.log('What was not seen may be in the skipped tests, and was not counted');
  for (const name of failures) console.log(`failed: ${name}`);
  const failedCount = failed + refused.length + (unseen.length > 0 && !isExplained ? 1 : 0);
  console.log(`${passed} passed, ${failedCount} failed`);
  return failedCount === 0 && passed > 0 ? 0 : 1;
}

/** Lines are `<part of a test's name or of its skip's reason>: <why CI cannot run it>`; `#` starts a comment. */
function readAllowedSkips(): string[] {
  const lines = readFileSync(join(root, '.ci', 'skips'), 'utf8').split('\n');
  return lines.flatMap((line) => line.match(/^(?!#)(.+?): \S/)?.[1] ?? []);
}

function isAbout(part: string, skip: Skip): boolean {
  return skip.name.includes(part) || skip.reason.includes(part);
}

process.exitCode = await main();
process.disconnect?.();
