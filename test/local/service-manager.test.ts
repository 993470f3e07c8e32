import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { identify, type ProcessId, startDaemon } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';
import { createServiceManager } from '#tools/local/service-manager.ts';
import { startNodeProcess } from '#tools/local/services/node-process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontage # a?b %20-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** A service that is one process of `sleep`; its start ends when `ready` does. */
function sleeper(ready: () => Promise<unknown> = async () => {}, [command = '', ...args]: string[] = ['sleep', '60']) {
  const started: ProcessId[] = [];
  const ends: Promise<string>[] = [];
  const options = { command, args, logFile: join(folder, 'log'), stopGraceMs: 10_000 };
  const services = createServiceManager(
    [
      {
        name: 'sleeper',
        stopSignal: 'SIGTERM',
        async start(onSpawn) {
          const daemon = await startDaemon({ ...options, stopSignal: 'SIGTERM', onSpawn });
          started.push(daemon.id);
          ends.push(daemon.ended);
          if ((await Promise.race([ready(), daemon.ended])) !== undefined) throw new Error('it did not start');
          return daemon;
        },
      },
    ],
    openRunRecords(join(folder, 'run')),
    () => {},
  );
  return { services, ends, running: () => started.filter(({ pid }) => identify(pid)) };
}

test('concurrent restarts leave one process', async () => {
  const { services, running } = sleeper();
  await services.start('sleeper');
  await Promise.all([services.restart('sleeper'), services.restart('sleeper')]);
  expect(running().map(({ pid }) => pid)).toEqual([services.pid('sleeper')]);
  await services.kill('sleeper');
  expect(running()).toEqual([]);
});

test('a stop also ends a process that is being restarted', async () => {
  let starts = 0;
  const { services, running } = sleeper(() => (++starts === 1 ? Promise.resolve() : new Promise(() => {})));
  await services.start('sleeper');
  const restart = services.restart('sleeper');
  restart.catch(() => {});
  await expect.poll(() => starts).toBe(2);
  await services.stop('sleeper');
  await expect(restart).rejects.toThrow('it did not start');
  expect(running()).toEqual([]);
});

test('a stop during a restart sends no second signal, and the restart starts nothing', async () => {
  const [drained, end] = ['drained', 'end'].map((name) => join(folder, name)) as [string, string];
  const drains = `process.once('SIGTERM', () => fs.writeFileSync(${JSON.stringify(drained)}, ''));
    setInterval(() => fs.existsSync(${JSON.stringify(end)}) && process.exit(0), 20);
    console.log('ready');`;
  const { services, running, ends } = sleeper(undefined, ['node', '-e', drains]);
  await services.start('sleeper');
  await expect.poll(() => readFileSync(join(folder, 'log'), 'utf8')).toContain('ready');
  const restart = services.restart('sleeper');
  await expect.poll(() => existsSync(drained)).toBe(true);
  const stop = services.stop('sleeper');
  writeFileSync(end, '');
  await Promise.all([stop, restart]);
  expect(await Promise.all(ends)).toEqual(['exit code 0']);
  expect(running()).toEqual([]);
});

test('one of our processes starts in a folder of any name', async () => {
  mkdirSync(join(folder, 'lib'));
  writeFileSync(join(folder, 'lib/module.ts'), 'process.env.LOADED = "yes";');
  writeFileSync(
    join(folder, 'entry.ts'),
    'setInterval(() => {}, 1000); process.send?.({ ready: process.env.LOADED === "yes" });',
  );
  const daemon = await startNodeProcess({
    name: 'any',
    root: folder,
    entry: 'entry.ts',
    env: {},
    logFile: join(folder, 'log'),
    preload: { modules: ['lib/module.ts'], env: Promise.resolve({}) },
  });
  expect(daemon.running()).toBe(true);
  await daemon.stop();
});

test('a process that does not start reports the first fault of its settings', async () => {
  const start = startNodeProcess({
    name: 'api',
    entry: 'api/server.ts',
    env: { FRONTAGE_SECRET: 'x'.repeat(32), FRONTAGE_SIGNUP: 'maybe' },
    logFile: join(folder, 'log'),
  });
  await expect(start).rejects.toThrow(/^api did not start .* The configuration is not valid: FRONTAGE_SIGNUP: .*log: /);
});
