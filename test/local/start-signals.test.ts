import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { identify } from '#tools/local/process-id.mjs';
import { clone, machine, useBareClone } from './bare-clone.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

/** In place of what `npm start` runs: notes its process, and by which signal it was stopped, after it has said so. */
const stub = `
import { writeFileSync } from 'node:fs';
import { showProgress } from '#tools/local/progress.ts';
const progress = showProgress();
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {
  if (stopped) return;
  stopped = true;
  for (let count = 0; count < 10; count++) setTimeout(() => progress.line('… stopping'), 20 * count);
  setTimeout(() => { writeFileSync('stopped', signal); process.exit(0); }, 300);
});
setInterval(() => {}, 1000);
writeFileSync('running', JSON.stringify([process.pid, process.ppid]));
`;

useBareClone();

test.for(signals)('%s to npm start, whose terminal closes, leaves nothing running', { tags: 'npm' }, async (signal) => {
  writeFileSync(join(clone, 'tools/scripts/start.ts'), stub);
  const command = spawn(await pathOf('npm'), ['start'], { cwd: clone, env: machine() });
  const read = (name: string) => (existsSync(join(clone, name)) ? readFileSync(join(clone, name), 'utf8') : '');
  await expect.poll(() => read('running')).not.toBe('');
  const processes: number[] = JSON.parse(read('running'));
  const left = () => processes.filter((pid) => identify(pid));
  onTestFinished(() => {
    for (const pid of left()) process.kill(pid, 'SIGKILL');
  });
  for (const stream of [command.stdout, command.stderr]) stream.destroy();
  command.kill(signal);
  await expect.poll(() => read('stopped')).toBe(signal === 'SIGKILL' ? 'SIGHUP' : signal);
  await expect.poll(left).toEqual([]);
});
