/**
 * The process that starts programs for another one (spawn-helper.ts): a fork copies the tables of the memory it comes from, and this one has little of it.
 * Not TypeScript, since what takes the types away would be a third more.
 *
 * Told over IPC of a program to come, it connects a socket for each stream, says whose it is, and later hands it to the program as it is: what the
 * program reads and writes never passes through here, but for its last words (stderr) and a channel, which are little. A shell needs descriptors
 * that block; a socket handed over as anything above 2 would not, so the channel is a pipe from here.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/** How long programs get to end by themselves once nobody is there to read them, and once more after SIGTERM. */
const graceMs = 2000;
const stderrMax = 4096;

const address = process.argv[2] ?? '';
/** By id: stdin, stdout and channel of programs to come, and programs that run. */
const prepared = new Map();
const running = new Map();

process.on('message', (message) => {
  if ('program' in message) start(message);
  else if ('signal' in message) signal(running.get(message.id), message.signal);
  else
    prepared.set(
      message.id,
      [0, 1, 3].map((descriptor) => reach(message.id, descriptor)),
    );
});
process.on('disconnect', () => {
  rmSync(dirname(address), { recursive: true, force: true });
  for (const socket of [...prepared.values()].flat()) socket.destroy();
  setTimeout(() => signalAll('SIGTERM'), graceMs).unref();
  setTimeout(() => signalAll('SIGKILL'), 2 * graceMs).unref();
});
// They go to all processes of a terminal or a service. This one ends after the one it works for, which still has use for it.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});

/** A connection from which nothing is read here. */
function reach(id, descriptor) {
  const socket = connect({ path: address, allowHalfOpen: true }).pause();
  // Where there is no way back while the other side lives, it needs another launcher: one whose folder nobody has cleaned away.
  const giveUp = () => setTimeout(() => process.connected && process.exit(1), graceMs / 2);
  socket.on('error', giveUp).once('connect', () => socket.off('error', giveUp).on('error', () => {}));
  socket.write(`${id}:${descriptor}\n`);
  return socket;
}

/** Starts a program, once the other side has all its streams. */
function start({ id, program, args, env, hasChannel }) {
  const [stdin, stdout, channel] = prepared.get(id);
  prepared.delete(id);
  try {
    // A process group of its own, so that a signal reaches what the program has started too.
    const child = spawn(program, args, {
      env,
      detached: true,
      stdio: [stdin, stdout, 'pipe', hasChannel ? 'pipe' : 'ignore'],
    });
    child.on('error', ({ code }) => tell({ id, error: code }));
    if (child.pid !== undefined) follow(id, child);
    if (hasChannel) relay(channel, child.stdio[3]);
    else channel.destroy();
  } catch (error) {
    channel.destroy();
    tell({ id, error: error.code ?? error.message });
  }
  stdin.destroy();
  stdout.destroy();
}

function follow(id, child) {
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr = (stderr + text).slice(-stderrMax);
  });
  running.set(id, child);
  tell({ id, pid: child.pid });
  child.on('close', (status) => {
    running.delete(id);
    tell({ id, ending: { status, stderr } });
  });
}

function relay(channel, pipe) {
  for (const [from, to] of [
    [channel, pipe],
    [pipe, channel],
  ]) {
    from.on('error', () => {}).on('close', () => to.end());
    from.pipe(to);
  }
}

function signal(child, name) {
  if (!child) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // Gone in between.
  }
}

function signalAll(name) {
  for (const child of running.values()) signal(child, name);
}

function tell(message) {
  if (process.connected) process.send(message, () => {});
}
