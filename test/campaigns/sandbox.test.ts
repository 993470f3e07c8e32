/** A list of hostile programs, several at a time, with a well-behaved site built beside them and after them. The short form runs those marked `brief`. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import {
  type Built,
  build,
  listContainers,
  newOwner,
  openKind,
  roomy,
  type Site,
  site,
} from '#test/sandbox/fixture.ts';
import { outside, verdicts } from '#test/sandbox/hostile/escapes.ts';
import type { HostileProgram } from '#test/sandbox/hostile/program.ts';
import { hostilePrograms } from '#test/sandbox/hostile/programs.ts';
import { processes } from '#test/sandbox/hostile/resources.ts';
import { describeKinds, kinds } from '#test/sandbox/kinds.ts';
import { sized } from './size.ts';

const rounds = sized({ short: 0, long: 1 });

/** The short form leaves out, in all kinds but docker, what is the same code in all. */
function runsIn(kind: string): HostileProgram[] {
  const own = kind === 'docker' ? hostilePrograms : [...processes, ...verdicts, ...outside];
  const programs = rounds > 0 ? hostilePrograms : own.filter(({ brief }) => brief);
  return Array.from({ length: Math.max(1, rounds) }, () => programs).flat();
}
const atOnce = 3;
/** For the start and the end of a build beside three others and another campaign. */
const graceMs = 20_000;
const secret = `secret-${process.pid}-of-the-host`;

describeKinds((kind) => {
  const owner = newOwner();
  const runs = runsIn(kind);
  const host = createServer((socket) => socket.end('here'));
  const door = createServer((socket) => socket.end('here'));
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind, owner);
    process.env.FRONTAGE_CANARY = secret;
    await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready));
    await new Promise<void>((ready) => door.listen(`\0frontage-${process.pid}-${kind}`, ready));
  }, 300_000);
  afterAll(async () => {
    delete process.env.FRONTAGE_CANARY;
    host.close();
    door.close();
    await sandbox?.close();
  });

  /** Puts in what a program cannot know: where the host listens. */
  function aimed(files: Site): Site {
    const { port } = (host.address() ?? { port: 1 }) as { port: number };
    const aim = (text: string) =>
      text.replaceAll('HOST_PORT', String(port)).replaceAll('HOST_DOOR', `frontage-${process.pid}-${kind}`);
    return Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, typeof text === 'string' ? aim(text) : text]),
    );
  }

  test('each hostile program ends, and the site beside it builds', {
    timeout: 120_000 + runs.length * 20_000,
  }, async () => {
    const faults: string[] = [];
    const waiting = [...runs];
    const run = async () => {
      for (let program = waiting.shift(); program; program = waiting.shift()) {
        const fault = await attempt(sandbox, program, aimed(program.files));
        if (!fault) continue;
        console.log(`${kind}, ${program.what}: ${fault}`);
        faults.push(`${program.what}: ${fault}`);
      }
    };
    const beside = async () => {
      while (waiting.length > 0) {
        const { outcome, log } = await build(sandbox, site());
        if (outcome.status !== 'built') faults.push(`the site beside them: ${JSON.stringify(outcome)} ${log}`);
      }
    };
    await Promise.all([...Array.from({ length: atOnce }, run), beside()]);
    console.log(`${kind}: ${runs.length} hostile builds, ${faults.length} of them wrong`);
    expect(faults).toEqual([]);
    expect(await build(sandbox, site())).toMatchObject({ outcome: { status: 'built' } });
    expect(await listContainers(owner)).toEqual([]);
    expect(listBuildProcesses()).toEqual([]);
    expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(0);
  });
}, kinds);

/** Answers what went wrong, if anything did. */
async function attempt(sandbox: Sandbox, program: HostileProgram, files: Site): Promise<string | undefined> {
  const limits = { ...roomy, timeoutMs: 150_000, outputBytesMax: 100_000_000, ...program.limits };
  const started = performance.now();
  const cached: Buffer[] = [];
  const onCache = async (content: Readable) => {
    for await (const part of content as AsyncIterable<Buffer>) cached.push(part);
  };
  const built = await build(sandbox, files, { limits, onCache }).catch((error: Error) => error);
  const took = performance.now() - started;
  if (built instanceof Error) return `no end of its own, but ${built.message} ${built.cause ?? ''}`;
  const { outcome } = built;
  const end = outcome.status === 'failed' ? outcome.code : 'built';
  if (!program.ends.includes(end)) return `ended as ${JSON.stringify(outcome)}; ${built.log.slice(-500)}`;
  if (outcome.status === 'failed' && program.says && !program.says.test(outcome.message))
    return `said ${outcome.message}`;
  if (took > limits.timeoutMs + graceMs) return `took ${Math.round(took)} ms`;
  if (tellsOfHost(Buffer.concat(cached))) return 'caches that tell of the host';
  return judge(built, limits.logBytesMax);
}

function tellsOfHost(content: Buffer): boolean {
  return content.includes(secret) || content.includes('root:x:0:0:root');
}

/** What must hold whatever a program did. */
function judge({ outcome, log, files }: Built, logBytesMax: number): string | undefined {
  if (log.length > logBytesMax + 100) return `a log of ${log.length}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const commands = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
  if (commands.test(log)) return `a log that commands terminals: ${JSON.stringify(commands.exec(log)?.[0])}`;
  if (outcome.status === 'failed' && (commands.test(outcome.message) || outcome.message.length > 5_000))
    return `the message ${JSON.stringify(outcome.message)}`;
  for (const [path, content] of files) {
    if (/(^|\/)\.\.?(\/|$)|^\/|\\|\0/.test(path)) return `delivered ${path}`;
    if (tellsOfHost(content)) return `${path} tells of the host`;
  }
  const told = String(files.get('told.json') ?? '');
  return /OPEN|WRITTEN|DONE|devtools/.test(told) ? `could do ${told}` : undefined;
}

/** Processes of builds, seen from outside: their runner or what it started. */
function listBuildProcesses(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/tmp/bomb.mjs');
    } catch {
      return false;
    }
  });
}
