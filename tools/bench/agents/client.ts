/** An agent with a terminal and the client: each step is a command. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '#rules/calls/operations.ts';
import { parse } from './http.ts';
import { requireOutcome, type Surface, size } from './surface.ts';
import { filled, type Step } from './task.ts';

type Ran = { out: string; err: string };
type Run = (args: string[]) => Promise<Ran>;

export async function clientSurface(baseUrl: string, token: string): Promise<Surface> {
  const home = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const program = join(home, 'frontage.mjs');
  await writeFile(program, await (await fetch(`${baseUrl}/skill/bin/frontage.mjs`)).text());
  const run = runnerIn(home, program, token);
  /** Operations whose help the agent has read. */
  const seen = new Set<string>(['site.publish']);
  return {
    name: 'client',
    async start() {
      const { out, err } = await run(['--help']);
      const skill = await (await fetch(`${baseUrl}/skill/SKILL.md`)).text();
      return { calls: 2, bytes: size(out, err, skill) };
    },
    async run(_what, steps, known) {
      const cost = { calls: 0, bytes: 0 };
      for (const step of steps) {
        if (!seen.has(step.operation)) {
          seen.add(step.operation);
          cost.calls += 1;
          cost.bytes += await help(run, step);
        }
        cost.calls += 1;
        cost.bytes += await once(run, step, known);
      }
      return cost;
    },
    close: () => rm(home, { recursive: true, force: true }),
  };
}

function runnerIn(home: string, program: string, token: string): Run {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    FRONTAGE_TOKEN: token,
  };
  const options = { cwd: home, env, maxBuffer: 64 * 1024 ** 2 };
  return (args) =>
    new Promise((resolve) => {
      // The exit code also says what is not finished: a refusal is read from what is printed.
      const ended = (_error: unknown, out: string, err: string) => resolve({ out, err });
      execFile(process.execPath, [program, ...args], options, ended).stdin?.end();
    });
}

async function help(run: Run, step: Step): Promise<number> {
  const args = [...wordsOf(step), '--help'];
  const { out, err } = await run(args);
  return size(args.join(' '), out, err);
}

async function once(run: Run, step: Step, known: Map<string, unknown>): Promise<number> {
  const args = commandOf(step, known);
  const { out, err } = await run(args);
  const parsed = parse(out);
  requireOutcome(step, parsed?.error?.code ?? codeIn(err), `${args.join(' ')}\n${err}${out}`);
  known.set(step.operation, out);
  if (step.as) known.set(step.as, parsed ?? out);
  return size(args.join(' '), out, err);
}

/** The code of a refusal, which ends its last line: `✗ The build failed. (build_failed)`. */
function codeIn(err: string): string | undefined {
  if (!/^✗/m.test(err)) return undefined;
  return [...err.matchAll(/\(([a-z]+(?:_[a-z]+)*)\)$/gm)].at(-1)?.[1] ?? 'failed';
}

/** Commands that follow a build. */
const following: Partial<Record<string, string>> = { 'site.publish': 'publish', 'preview.build': 'preview' };

const wordsOf = ({ operation }: Step) => operation.replaceAll('_', '-').split('.');

function commandOf(step: Step, known: Map<string, unknown>): string[] {
  const given = filled(step.arguments ?? {}, known) as Record<string, unknown>;
  const path = operations[step.operation].split(' ')[1] ?? '';
  const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const flags = Object.entries(given)
    .filter(([name]) => !parts.includes(name))
    .flatMap(([name, value]) => {
      const values =
        Array.isArray(value) && value.every((one) => typeof one === 'string') && name === 'path' ? value : [value];
      return values.flatMap((one) => [`--${name.replaceAll('_', '-')}`, textOf(one)]);
    });
  const own = following[step.operation];
  const words = own ? [own] : wordsOf(step);
  const quiet = own ? ['--quiet'] : [];
  const shape = step.as ? ['--json'] : [];
  return [...words, ...parts.map((name) => String(given[name])), ...flags, ...quiet, ...shape];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
