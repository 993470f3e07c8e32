/**
 * Process 1 of a sandbox: reads one site, writes its built files, then waits to be stopped.
 *
 * stdin   order, cache, source and hashes of known files, see `parts.mjs`
 * stdout  a tar: `dist/…` for each new file, `held.json` for 500 of the others at a time, then `verdict.json`:
 *         `{ "status": "built", "ms": { … } }` or `{ "status": "failed", "message": …, "outOfMemory": true | false }`; after a
 *         successful build `cache/…` for the next one, if it has changed; then an empty `end`
 * stderr  the build log; after it the text of `endOfLog`, which site code does not know
 *
 * The worker stops the sandbox after reading all output. It does not exit by itself, because a container engine drops output that a slow reader
 * has not read two seconds after the exit. An exit without a verdict is an error of the platform or the machine.
 *
 * With `rehearse` it writes a line to stdout when it is warm, and waits. It exits when stdin closes, that is when its worker dies. With
 * `pause-when-busy` besides, the rehearsal pauses while the machine is busy.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, constants, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { takeCache, writeCache } from './cache.mjs';
import { add, writeOutput } from './output.mjs';
import { readParts } from './parts.mjs';
import { pauseUntil } from './pauses.mjs';
import { SiteFailure, unpack } from './source.mjs';
import { linkStaticFiles } from './static.mjs';

const packages = dirname(import.meta.dirname);
const root = process.env.FRONTAGE_ROOT ?? join(packages, 'site');
const temporary = tmpdir();
const cacheDir = join(temporary, 'cache');
const reasonBytesMax = 16_384;
const lingerMs = 60_000;
const isRehearsing = process.argv[2] === 'rehearse';
const isPausing = process.argv[3] === 'pause-when-busy';
/** O_CLOEXEC, see proc(5), "fdinfo". */
const closeOnExec = 0o2000000;

/** Closes what an ancestor of the worker left open. Node marks all that it opens itself to be closed on exec; these are not. */
function closeInherited() {
  if (process.platform !== 'linux') return;
  for (const fd of readdirSync('/proc/self/fdinfo').map(Number)) {
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
      if (fd > 2 && !(Number.parseInt(flags, 8) & closeOnExec)) closeSync(fd);
    } catch {
      // It was the descriptor of the list itself.
    }
  }
}

/**
 * Site code runs in this process, never in ours: it must not write to our stdout.
 * @param {string[]} args
 */
function startFramework(...args) {
  // A build allocates many short-lived objects: a larger young generation saves a twelfth of its time.
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
  const { stdin } = child;
  const report = child.stdio[3];
  if (!stdin || !(report instanceof Readable)) throw new Error('The build process was started without pipes.');
  stdin.on('error', () => {}); // It may exit before it reads; its exit code reports that.
  return { child, stdin, report };
}

/**
 * Unpacks the cache and the source, and completes the source. Returns the state of the cache.
 * @param {ReturnType<typeof readParts>} parts
 */
async function unpackSite(parts) {
  const given = await takeCache(parts.cache, cacheDir);
  await unpack(parts.source, root);
  await furnish();
  return given;
}

/** @param {ReturnType<typeof readParts>} parts */
function readHeld({ held }) {
  const hashes = text(held).then((lines) => new Set(lines.split('\n').filter(Boolean)));
  hashes.catch(() => {}); // Awaited after the build, unless it fails.
  return hashes;
}

/**
 * Adds the platform's packages to the source, its frozen files if the source lacks them, and the static files to `public/`. Git ignores the
 * posts, which have a repository of their own. Tailwind reads these rules, too, and would miss the classes in posts.
 */
async function furnish() {
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(join(packages, name), join(root, name), constants.COPYFILE_EXCL).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await symlink(join(packages, 'node_modules'), join(root, 'node_modules'));
  linkStaticFiles(root);
  const ignored = join(root, '.gitignore');
  if (lstatSync(ignored, { throwIfNoEntry: false })?.isFile()) appendFileSync(ignored, '\n!/src/content/\n');
}

/**
 * @param {ReturnType<typeof startFramework>} framework
 * @param {Promise<any[]>} exit
 * @param {object} order
 */
async function runFramework({ stdin, report }, exit, order) {
  stdin.end(`${JSON.stringify(order)}\n`);
  const reason = readReason(report);
  const [code, signal] = await exit;
  // Processes of site code must not change the files while they are read.
  if (process.pid === 1) tryKillOthers();
  if (code === 0) return;
  // Only the kernel, or Node itself when its heap is full, kills it with these signals.
  const outOfMemory = signal === 'SIGKILL' || signal === 'SIGABRT';
  if (outOfMemory) throw new SiteFailure('The build ran out of memory.', { outOfMemory });
  throw new SiteFailure(
    (await reason) ?? `The build failed with ${signal ? `signal ${signal}` : `exit code ${code}`}.`,
  );
}

function tryKillOthers() {
  try {
    process.kill(-1, 'SIGKILL');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * The reason that the framework's process reports. Site code could also have written it, so it is used only as text.
 * @param {Readable} stream
 */
async function readReason(stream) {
  let words = '';
  for await (const chunk of stream) if (words.length < reasonBytesMax) words += chunk;
  try {
    return String(JSON.parse(words).message).slice(0, 4_000);
  } catch {
    return undefined;
  }
}

/** @param {ReturnType<typeof startFramework>} framework */
async function rehearsed({ child, report }) {
  const ended = once(report, 'readable');
  if (isPausing) await pauseUntil(child, ended);
  await ended;
  if (report.read(1) === null) throw new Error('The rehearsal build failed.');
  process.stdout.write('\n');
}

/**
 * CPU milliseconds of this process, of its exited children, and of the running one; see proc(5), "stat". 0 without /proc.
 * @param {import('node:child_process').ChildProcess} child
 */
function cpuMs(child) {
  /** @param {number | string | undefined} pid */
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

/**
 * Runs one step and records its duration.
 * @template T
 * @param {Record<string, number>} ms
 * @param {string} step
 * @param {() => T | Promise<T>} act
 */
async function timed(ms, step, act) {
  const from = performance.now();
  const result = await act();
  ms[step] = Math.round(performance.now() - from);
  return result;
}

async function supervise() {
  closeInherited();
  const framework = startFramework(...(isRehearsing ? ['rehearse'] : []));
  const { child } = framework;
  const exit = once(child, 'exit');
  const parts = readParts(process.stdin);
  const [order] = await Promise.all([text(parts.order), isRehearsing && rehearsed(framework)]);
  const { siteUrl, endOfLog } = JSON.parse(order);
  const cpuBefore = cpuMs(child);
  const tar = pack();
  const sent = pipeline(tar, process.stdout, { end: false });
  /** @type {Record<string, number>} */
  const ms = {};
  const verdict = { status: 'built', ms };
  /** @type {string | undefined} */
  let given;
  let isLogOver = false;
  const endLog = () => {
    if (!isLogOver) process.stderr.write(endOfLog);
    isLogOver = true;
  };
  try {
    await mkdir(cacheDir);
    given = await timed(ms, 'unpack', () => unpackSite(parts));
    const held = readHeld(parts);
    await timed(ms, 'build', () => runFramework(framework, exit, { root, cacheDir, siteUrl }));
    // Before the files and caches: on a shared connection it would otherwise queue behind output that is not read yet.
    endLog();
    await timed(ms, 'collect', async () => writeOutput(tar, root, await held));
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

await supervise();
