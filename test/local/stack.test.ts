import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from '#test/stack/database.ts';
import { identify, isRunning, type ProcessId } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';
import { type Stack, type StackOptions, startStack } from '#tools/local/stack.ts';

type Told = { databaseUrl: string; baseUrl: string; pids: number[] };

const slow = { timeout: 60_000 };
let dataDir: string;
let cleanups: (() => Promise<unknown> | unknown)[];

beforeEach(async () => {
  dataDir = await makeFolder('frontage-stack-');
  chmodSync(dataDir, 0o711);
  cleanups = [() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })];
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function startHere(folder = dataDir, options: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack({ dataDir: folder, durable: false, processes: [], ...options });
  cleanups.push(() => stack.killAll());
  return stack;
}

/** A stack under another process, which a test may kill. */
async function startElsewhere(folder = dataDir): Promise<Told & { parent: ChildProcess; ids: ProcessId[] }> {
  const parent = fork(join(import.meta.dirname, '../stack/stack-process.ts'), [folder], { stdio: 'inherit' });
  const ended = once(parent, 'exit');
  const [told] = (await Promise.race([once(parent, 'message'), ended.then(() => [])])) as [Told?];
  if (!told) throw new Error('The stack ended before it was ready');
  const ids = told.pids.flatMap((pid) => identify(pid) ?? []);
  expect(ids).toHaveLength(told.pids.length);
  cleanups.push(async () => {
    parent.kill('SIGKILL');
    await ended;
    await openRunRecords(join(folder, 'run')).stopLeftovers();
  });
  return { ...told, parent, ids };
}

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('two stacks run side by side, and a stopped one leaves nothing behind', slow, async () => {
  const other = await makeFolder('frontage-stack-');
  cleanups.push(() => rmSync(other, { recursive: true, force: true, maxRetries: 10 }));
  const [first, { parent, ids, databaseUrl }] = await Promise.all([startHere(), startElsewhere(other)]);
  await first.stop();
  expect(ids.filter(isRunning)).toEqual(ids);
  expect(await query(databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  parent.kill('SIGTERM');
  await once(parent, 'exit');
  expect(ids.filter(isRunning)).toEqual([]);
});

test('a start after a SIGKILL stops leftovers, keeps the data, and touches nothing else', slow, async () => {
  const killed = await startElsewhere();
  await query(killed.databaseUrl, 'create table kept ()');
  killed.parent.kill('SIGKILL');
  await once(killed.parent, 'exit');
  // The databases; what is ours ends with its parent.
  expect(killed.ids.filter(isRunning).length).toBeGreaterThanOrEqual(2);
  const bystander = spawn('sleep', ['60']);
  cleanups.push(() => bystander.kill());

  const stack = await startHere();

  expect(killed.ids.filter(isRunning)).toEqual([]);
  expect(bystander.exitCode).toBeNull();
  expect(await query(stack.databaseUrl, `select to_regclass('kept')::text as kept`)).toEqual([{ kept: 'kept' }]);
});

test('a stack holds its folder, keeps commits through SIGKILL, and reports unexpected exits', slow, async () => {
  const told = Promise.withResolvers<string>();
  const stack = await startHere(dataDir, { onUnexpectedEnd: (name, how) => told.resolve(`${name}: ${how}`) });
  const second = startStack({ dataDir, durable: false, processes: [] });
  await expect(second).rejects.toThrow(`${dataDir} is in use by process ${process.pid}`);
  await query(stack.databaseUrl, 'create table kept ()');
  await stack.kill('postgres');
  await expect(query(stack.databaseUrl, 'select 1')).rejects.toThrow();
  await stack.restart('postgres');
  expect(await query(stack.databaseUrl, `select to_regclass('kept')::text as kept`)).toEqual([{ kept: 'kept' }]);
  // That was requested, and is not reported.
  process.kill(stack.pid('temporal') as number, 'SIGKILL');
  expect(await told.promise).toBe('temporal: signal SIGKILL');
});
