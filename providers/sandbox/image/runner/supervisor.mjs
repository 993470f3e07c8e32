/**
 * Process 1 of a sandbox: one site in, its built files out, then the end.
 *
 * stdin   order, cache, source and what is held already, as `parts.mjs` says
 * stdout  a tar: `dist/…` for each new file, `held.json` for the others, then `verdict.json`:
 *         `{ "status": "built", "ms": { … } }` or `{ "status": "failed", "message": …, "outOfMemory": true | false }`; after a build that
 *         went well `cache/…` for what its next one may be given, unless that is what this one was given; at last an empty `end`
 * stderr  the build log; after it the words of `endOfLog`, which site code does not know
 *
 * Whoever has read all ends the sandbox. It does not end by itself, because an engine drops what a slow reader has
 * not read two seconds after the end; an end without a verdict is a fault of the platform or of the machine.
 *
 * Started ahead (`rehearse`), it says a line on stdout when it is warm, and waits. It ends when stdin ends: when its worker has died.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, readFileSync } from 'node:fs';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { takeCache, writeCache } from './cache.mjs';
import { add, writeOutput } from './output.mjs';
import { readParts } from './parts.mjs';
import { SiteFailure, unpack } from './source.mjs';

const packages = dirname(import.meta.dirname);
const root = process.env.FRONTAGE_ROOT ?? '/site';
const temporary = tmpdir();
const cacheDir = join(temporary, 'cache');
const reasonBytesMax = 16_384;
const lingerMs = 60_000;

/** Site code runs in this process, never in ours: our stdout is the way out, and it must not reach it. */
function startFramework(...args) {
  // A build makes much that is soon done with: in a larger nursery it need not be moved, which takes a twelfth off.
  const child = spawn(process.execPath, ['--max-semi-space-size=64', join(import.meta.dirname, 'build.mjs'), ...args], {
    cwd: root,
    stdio: ['pipe', 2, 2, 'pipe'],
    env: {
      PATH: process.env.PATH ?? '/usr/bin',
      HOME: temporary,
      TMPDIR: temporary,
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      NODE_ENV: 'production',
      NO_COLOR: '1',
      ASTRO_TELEMETRY_DISABLED: '1',
    },
  });
  child.stdin.on('error', () => {}); // It may end before it has read: its exit tells.
  return child;
}

/** Puts what the platform owns beside the source. A tree without the frozen files builds with the platform's. */
async function furnish() {
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(join(packages, name), join(root, name), constants.COPYFILE_EXCL).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await symlink(join(packages, 'node_modules'), join(root, 'node_modules'));
}

async function runFramework(child, exit, order) {
  child.stdin.end(`${JSON.stringify(order)}\n`);
  const reason = readReason(child.stdio[3]);
  const [code, signal] = await exit;
  // What site code left running must not change the files while they are read.
  if (process.pid === 1) tryKillOthers();
  if (code === 0) return;
  // From within nobody else kills it: the kernel does, or Node itself when its heap is full.
  const outOfMemory = signal === 'SIGKILL' || signal === 'SIGABRT';
  if (outOfMemory) throw new SiteFailure('The build ran out of memory.', { outOfMemory });
  throw new SiteFailure((await reason) ?? `The build ended with exit code ${code ?? signal}.`);
}

function tryKillOthers() {
  try {
    process.kill(-1, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** The reason as the framework's process gives it. Site code could have given it too: a text, and no more. */
async function readReason(stream) {
  let words = '';
  for await (const chunk of stream) if (words.length < reasonBytesMax) words += chunk;
  try {
    return String(JSON.parse(words).message).slice(0, 4_000);
  } catch {
    return undefined;
  }
}

async function rehearsed(child) {
  await once(child.stdio[3], 'readable');
  if (child.stdio[3].read(1) === null) throw new Error('The rehearsal failed.');
  process.stdout.write('\n');
}

/** CPU milliseconds of us, of children that have ended, and of one that runs; see proc(5), "stat". None where there is no /proc. */
function cpuMs(child) {
  const times = (pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
  };
  try {
    const running = child.exitCode === null && child.signalCode === null ? times(child.pid).slice(0, 2) : [];
    return 10 * [...times('self'), ...running].reduce((sum, ticks) => sum + ticks, 0);
  } catch {
    return 0;
  }
}

/** Runs one step and notes how long it took. */
async function timed(ms, step, act) {
  const from = performance.now();
  const result = await act();
  ms[step] = Math.round(performance.now() - from);
  return result;
}

async function supervise(ahead) {
  const child = startFramework(...(ahead ? ['rehearse'] : []));
  const exit = once(child, 'exit');
  const parts = readParts(process.stdin);
  if (ahead) rehearsed(child).catch((error) => parts.order.destroy(error));
  const { siteUrl, endOfLog } = JSON.parse(await text(parts.order));
  const cpuBefore = cpuMs(child);
  const tar = pack();
  const sent = pipeline(tar, process.stdout, { end: false });
  const ms = {};
  const verdict = { status: 'built', ms };
  let given;
  let isLogOver = false;
  const endLog = () => {
    if (!isLogOver) process.stderr.write(endOfLog);
    isLogOver = true;
  };
  try {
    await mkdir(cacheDir);
    await timed(ms, 'unpack', async () => {
      given = await takeCache(parts.cache, cacheDir);
      await unpack(parts.source, root);
      await furnish();
    });
    await timed(ms, 'build', () => runFramework(child, exit, { root, cacheDir, siteUrl }));
    // Before the files, and so before the caches too: where all goes by one wire, it would come behind what nobody reads yet.
    endLog();
    const held = new Set((await text(parts.held)).split('\n').filter(Boolean));
    await timed(ms, 'collect', () => writeOutput(tar, root, held));
    ms.cpu = cpuMs(child) - cpuBefore;
  } catch (error) {
    if (!(error instanceof SiteFailure)) throw error;
    Object.assign(verdict, { status: 'failed', message: error.message, outOfMemory: error.outOfMemory });
  }
  endLog();
  await add(tar, 'verdict.json', JSON.stringify(verdict));
  if (verdict.status === 'built') await writeCache(tar, cacheDir, given);
  tar.entry({ name: 'end' }, '');
  tar.finalize();
  await sent;
  setTimeout(() => process.exit(0), lingerMs);
}

await supervise(process.argv[2] === 'rehearse');
