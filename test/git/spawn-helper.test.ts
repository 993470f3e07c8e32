import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type SpawnedProcess, spawnByHelper, writeWithBackpressure } from '#providers/spawn-helper.ts';

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const shell = (script: string, hasChannel = false) => spawnByHelper('/bin/sh', ['-c', script], { env, hasChannel });
const finished = async ({ stdout, exited: ended }: SpawnedProcess) => ({ said: await text(stdout), ...(await ended) });

/** Whether the process runs: one that is dead and not yet collected does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function until(state: () => boolean): Promise<void> {
  while (!state()) await sleep(20);
}

async function firstLine(stream: Readable): Promise<string> {
  let all = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    all += chunk;
    if (all.includes('\n')) return all.slice(0, all.indexOf('\n'));
  }
  throw new Error(`ended after ${all}`);
}

test('a hundred megabytes pass through a program, no faster than they are read', async () => {
  const piece = Buffer.alloc(1_048_576, 'a piece of many bytes\n');
  const program = await spawnByHelper('cat', [], { env });
  const sent = createHash('sha256');
  let taken = 0;
  const writing = (async () => {
    for (let count = 0; count < 100; count++) {
      piece.writeUInt32LE(count);
      sent.update(piece);
      await writeWithBackpressure(program.stdin, Buffer.from(piece));
      taken += 1;
    }
    program.stdin.end();
  })();
  await until(() => taken > 0 || program.stdin.writableNeedDrain);
  await sleep(200);
  expect(taken).toBeLessThan(8);
  const received = createHash('sha256');
  for await (const chunk of program.stdout) received.update(chunk as Buffer);
  await writing;
  expect(received.digest('hex')).toBe(sent.digest('hex'));
  expect(await program.exited).toEqual({ status: 0, stderr: '' });
});

test('a program has its status, its last output and its environment', async () => {
  expect(await finished(await shell('yes error | head -c 9999 >&2; echo last words >&2; exit 7'))).toMatchObject({
    said: '',
    status: 7,
    stderr: expect.stringMatching(/^.{4084,4096}$/s),
  });
  const { stderr: words } = await finished(await shell('echo spoken >&2; kill -KILL $$'));
  expect(words).toBe('spoken\n');
  const program = await spawnByHelper('/usr/bin/env', [], { env: { A: '1', B: 'two words' } });
  expect((await finished(program)).said).toBe('A=1\nB=two words\n');
});

test('a program inherits only its own descriptors', async () => {
  const others = await Promise.all([1, 2, 3].map(() => shell('read line', true)));
  const listing = 'for fd in /proc/self/fd/*; do if [ -e $fd ]; then echo $fd; fi; done';
  const sorted = (lines: string) => lines.trim().split('\n').sort();
  const usual = execFileSync('/bin/sh', ['-c', listing], { encoding: 'utf8' });
  expect(sorted((await finished(await shell(listing))).said)).toEqual(sorted(usual));
  expect(sorted((await finished(await shell(listing, true))).said)).toEqual(sorted(`${usual}/proc/self/fd/3`));
  for (const other of others) other.stdin.end();
  await Promise.all(others.map(finished));
});

test('a missing program fails, and other programs continue', async () => {
  const before = await shell('read line');
  for (const hasChannel of [false, true]) {
    const program = await spawnByHelper('/nonexistent', [], { env, hasChannel });
    await expect(finished(program)).rejects.toThrow('ENOENT');
  }
  before.stdin.end('\n');
  expect((await finished(before)).status).toBe(0);
});

test('a program may exit before reading its input', async () => {
  const program = await shell('exec <&-; exit 3');
  for (let count = 0; count < 20; count++) await writeWithBackpressure(program.stdin, Buffer.alloc(1_048_576));
  program.stdin.end();
  expect(await finished(program)).toMatchObject({ status: 3 });
});

test('two hundred concurrent programs each get their own streams', async () => {
  const said = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const program = await spawnByHelper('cat', [], { env });
      program.stdin.end(`${index}`);
      return (await finished(program)).said;
    }),
  );
  expect(said).toEqual(Array.from({ length: 200 }, (_, index) => `${index}`));
});

test('a shell reads and writes the channel, and sees its end', async () => {
  const program = await shell('read first <&3; echo "$first" >&3; yes | head -c 1048576 >&3; wc -c <&3', true);
  const channel = program.channel as NonNullable<SpawnedProcess['channel']>;
  channel.write('word\n');
  await sleep(100);
  const heard = buffer(channel);
  channel.end('x'.repeat(1_048_576));
  expect(await finished(program)).toMatchObject({ said: '1048576\n', status: 0 });
  expect((await heard).length).toBe(1_048_576 + 5);

  const left = await shell('read verdict <&3 || echo none', true);
  left.channel?.destroy();
  expect((await finished(left)).said).toBe('none\n');
});

test('a signal reaches all processes of a program', async () => {
  const program = await shell("trap '' TERM; sleep 1000 & echo $!; wait");
  const pid = Number(await firstLine(program.stdout));
  program.stdout.resume();
  program.kill('SIGTERM');
  program.kill('SIGKILL');
  expect((await program.exited).status).toBeNull();
  await until(() => !runs(pid));
});

test('when the helper is killed, its programs fail and the next one starts', async () => {
  const program = await shell("trap '' TERM HUP; echo $$ $PPID; while :; do sleep 1; done");
  const [pid, launcher] = (await firstLine(program.stdout)).split(' ').map(Number) as [number, number];
  program.stdout.resume();
  // What the launcher tells comes in order: that the first one runs is known once the second has ended.
  await finished(await shell('true'));
  process.kill(launcher, 'SIGKILL');
  expect((await program.exited).status).toBeNull();
  await until(() => !runs(pid));
  const next = await finished(await shell('echo $PPID'));
  expect(next.status).toBe(0);
  expect(Number(next.said)).not.toBe(launcher);
});

test('when its folder is deleted, a new helper starts', async () => {
  const launcher = Number((await finished(await shell('echo $PPID'))).said);
  rmSync(dirname(addressOf(launcher)), { recursive: true });
  // Calls fail until the helper has ended.
  const parent = async () => Number((await finished(await shell('echo $PPID'))).said);
  await expect.poll(() => parent().catch(() => launcher)).not.toBe(launcher);
});

/** Where the streams of a launcher's programs meet. */
function addressOf(launcher: number): string {
  return readFileSync(`/proc/${launcher}/cmdline`, 'utf8').split('\0').at(-2) as string;
}

/** A process of its own that launches: its script has `launch` and `env`. */
function startParent(script: string, own: NodeJS.ProcessEnv = {}): ChildProcess & { stdout: Readable } {
  const launcher = join(import.meta.dirname, '../../providers/spawn-helper.ts');
  const code = `import { spawnByHelper } from ${JSON.stringify(launcher)}; const env = ${JSON.stringify(env)}; ${script}`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: own,
  }) as ChildProcess & { stdout: Readable };
}

test('programs run where TMPDIR is too long for a socket, or missing', async () => {
  for (const TMPDIR of [mkdtempSync(join(tmpdir(), 'x'.repeat(100))), '/nonexistent']) {
    const parent = startParent(
      `
      const program = await spawnByHelper('/bin/echo', ['here'], { env });
      for await (const part of program.stdout) process.stdout.write(part);`,
      { TMPDIR },
    );
    expect(await text(parent.stdout)).toBe('here\n');
    rmSync(TMPDIR, { recursive: true, force: true });
  }
});

test('a short command exits together with its helper', async () => {
  const parent = startParent(`
    const program = await spawnByHelper('/bin/sh', ['-c', 'echo $PPID'], { env });
    for await (const chunk of program.stdout) process.stdout.write(chunk);
    await program.exited;`);
  const [launcher, [status]] = await Promise.all([text(parent.stdout), once(parent, 'exit')]);
  expect(status).toBe(0);
  await until(() => !runs(Number(launcher)));
});

test('a killed process leaves no programs, helper or socket', async () => {
  const parent = startParent(`
    const script = "trap '' TERM HUP PIPE; echo $$ $PPID; while :; do sleep 1; done";
    const program = await spawnByHelper('/bin/sh', ['-c', script], { env, hasChannel: true });
    program.stdout.pipe(process.stdout);`);
  const [pid, launcher] = (await firstLine(parent.stdout)).split(' ').map(Number) as [number, number];
  const address = addressOf(launcher);
  expect(existsSync(address)).toBe(true);
  parent.kill('SIGKILL');
  await until(() => !runs(pid) && !runs(launcher) && !existsSync(address));
});

test('a terminal’s signal does not stop the helper before its process', async () => {
  const program = await shell('echo $PPID; read line; echo $line');
  const launcher = Number(await firstLine(program.stdout));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(launcher, signal);
  program.stdin.end('still here\n');
  expect((await finished(program)).said).toBe('still here\n');
});
