/**
 * Mutation testing: changes one thing in a copy of the source, and shows which changes no test notices.
 * `node tools/scripts/mutants.ts --seed 1 --count 30 rules/dns=test/domains/dns,test/domains/judging`
 * Source (a file or folder) = its tests, run from left to right until one fails; those joined by `+` run side by side.
 * `--only 3,17`: only these of the draw. `--lines 36,40`: instead of a draw, all mutants of these lines. `--title 'a sentence'`: only tests with this in their title.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { createVitest, type TestSpecification, type Vitest } from 'vitest/node';
import { mutantsOf } from './mutation-operators.ts';

type Mutant = { file: string; line: number; from: string; to: string; text: string; stages: string[] };
type Stage = { specifications: TestSpecification[]; limitMs: number };

const root = join(import.meta.dirname, '../..');

/** All mutants of the sources, in source order. */
function listMutants(pairs: string[]): Mutant[] {
  return pairs.flatMap((pair) => {
    const [source = '', tests = ''] = pair.split('=');
    const files = execFileSync('git', ['ls-files', `${source}`], { cwd: root, encoding: 'utf8' })
      .trim()
      .split('\n');
    return files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return mutantsOf(text).map(({ start, end, replacement }) => ({
        file,
        line: text.slice(0, start).split('\n').length,
        from: text.slice(start, end).replaceAll(/\s+/g, ' '),
        to: replacement,
        text: text.slice(0, start) + replacement + text.slice(end),
        stages: tests.split(','),
      }));
    });
  });
}

function draw(mutants: Mutant[], seed: number, count: number): Mutant[] {
  const options = { minLength: Math.min(count, mutants.length), maxLength: count };
  return fc.sample(fc.shuffledSubarray(mutants, options), { seed, numRuns: 1 })[0] ?? [];
}

/** A copy of the tree with the same packages: other processes never see a mutant. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'frontage-mutants-'));
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  const top = new Set(names.split('\n').map((name) => name.split('/', 1)[0]));
  for (const name of top)
    if (name && name !== 'node_modules') cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(copy, 'node_modules'));
  return copy;
}

/** The first failure of the stage's tests; undefined if they pass. */
async function firstFailure(vitest: Vitest, { specifications, limitMs }: Stage): Promise<string | undefined> {
  // The first worker bundles the workflows for all later ones; the mutant may be part of them.
  const services = vitest.projects[0]?.getProvidedContext().services;
  if (services) rmSync(services.bundleDir, { recursive: true, force: true });
  // Results of the previous run would stay for files that this one does not reach.
  for (const known of [vitest.state.filesMap, vitest.state.idMap]) known.clear();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killForks();
  }, limitMs);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  clearTimeout(timer);
  if (isLate) return 'time-out';
  for (const module of testModules) {
    const failed = [...module.children.allTests('failed')][0];
    if (failed) return failed.fullName;
    if (!module.ok()) return `${module.relativeModuleId}: ${module.errors()[0]?.message ?? 'failed'}`;
  }
  return unhandledErrors.length > 0 ? 'unhandled error' : undefined;
}

/** Ends test files that loop for ever: Vitest only ends those that respond. */
function killForks(): void {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  for (const line of lines) {
    const [pid, parent, ...args] = line.trim().split(/\s+/);
    if (Number(parent) === process.pid && args.join(' ').includes('vitest')) process.kill(Number(pid), 'SIGKILL');
  }
}

/** What a run without a mutant took sets the limit. It is done when a stage is first needed. */
async function prepareStage(vitest: Vitest, filter: string): Promise<Stage> {
  const specifications = await vitest.globTestSpecifications(filter.split('+'));
  if (specifications.length === 0) throw new Error(`no test file matches ${filter}`);
  const start = performance.now();
  const failure = await firstFailure(vitest, { specifications, limitMs: 900_000 });
  if (failure) throw new Error(`${filter} fails without a mutant: ${failure}`);
  const ms = performance.now() - start;
  console.log(`… ${filter}: ${Math.round(ms / 1000)} s without a mutant`);
  return { specifications, limitMs: 30_000 + 5 * ms };
}

/** The first test that notices the mutant. */
async function killerOf(vitest: Vitest, stages: Map<string, Stage>, mutant: Mutant): Promise<string | undefined> {
  const original = readFileSync(mutant.file, 'utf8');
  for (const filter of mutant.stages) {
    const stage = stages.get(filter) ?? (await prepareStage(vitest, filter));
    stages.set(filter, stage);
    writeFileSync(mutant.file, mutant.text);
    const failure = await firstFailure(vitest, stage);
    writeFileSync(mutant.file, original);
    if (failure) return failure;
  }
  return undefined;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    only: { type: 'string' },
    lines: { type: 'string' },
    title: { type: 'string' },
  },
});
const numbers = (list: string | undefined) => list?.split(',').map(Number);
const [only, lines] = [numbers(values.only), numbers(values.lines)];
const all = listMutants(positionals);
const drawn = lines
  ? all.filter(({ line }) => lines.includes(line))
  : draw(all, Number(values.seed), Number(values.count));
const numbered = [...drawn.entries()].filter(([index]) => only?.includes(index) ?? true);
const copy = copyTree();
process.chdir(copy);
const vitest = await createVitest('test', {
  // Isolated: a process that ran a mutant still has it in memory.
  ...{ root: copy, watch: false, bail: 1, isolate: true, project: ['unit'], reporters: [{}] },
  ...(values.title ? { testNamePattern: values.title } : {}),
});
try {
  const stages = new Map<string, Stage>();
  let killed = 0;
  for (const [index, mutant] of numbered) {
    const { file, line, from, to } = mutant;
    const killer = await killerOf(vitest, stages, mutant);
    if (killer) killed += 1;
    const fate = killer ? `killed by ${killer}` : 'SURVIVED';
    console.log(`${index} ${file}:${line} \`${from}\` → \`${to}\` ${fate}`);
  }
  console.log(`${killed} of ${numbered.length} killed, seed ${values.seed}`);
} finally {
  await vitest.close();
  rmSync(copy, { recursive: true, force: true });
}
