// Runs a script of this project from a bare clone: `node tools/scripts/bootstrap.mjs [--development] tools/scripts/start.ts …`.
// Plain JavaScript without packages, because it installs them and the Node that runs TypeScript. Without a script it only installs.
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { olderGit, oldestGit } from '#runtime/git-version.mjs';
import { findTemporal, presentTemporal } from '#tools/local/services/temporal-cli.mjs';
import { withInstallLock } from './install-lock.mjs';
import { canInstallNode, findNode, installNode } from './own-node.mjs';
import { installPackages, isInstalled } from './packages.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const data = join(root, '.frontage');
const compiled = join(root, 'node_modules', '.cache', 'compiled');
const development = process.argv[2] === '--development';
const [script, ...args] = process.argv.slice(development ? 3 : 2);
const isTest = script?.endsWith('/test.ts');
const parent = process.ppid;
const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Prints one line and exits.
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`✗ ${message}`);
  if (isTest) console.log('0 passed, 1 failed');
  process.exit(1);
}

function checkMachine() {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) < 20) {
    fail(`Node ${node} is too old. Install Node 20 or newer from your system's packages or nodejs.org.`);
  }
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' });
  if (git.status !== 0) fail(`git is missing. Install git ${oldestGit} or newer (on Debian: apt install git).`);
  const old = olderGit(git.stdout);
  if (old !== undefined) fail(`git ${old} is too old. Install git ${oldestGit} or newer, and put it first on PATH.`);
  if (!findNode(root) && !canInstallNode(root)) {
    fail(`Node ${node} cannot run this, and npm has no other for this machine. Install Node 24 from nodejs.org.`);
  }
}

/** Temporal's development server first: without it nothing works, so nothing else is installed. */
async function isReady() {
  return findNode(root) && isInstalled(root, { development }) && (!script || (await presentTemporal()));
}

async function install() {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of signals) process.on(signal, stop);
  const stopWatching = onNpmEnd(stop);
  const status = statusLine();
  const options = { show: status.show, log: join(data, 'npm-install.log'), signal: stopping.signal };
  const onWait = () => status.show('waiting for another process that installs the packages');
  try {
    await withInstallLock(join(data, 'install.lock'), onWait, async () => {
      if (script) await findTemporal(status.show, options);
      await installMissing(options);
    });
  } catch (error) {
    status.close();
    if (stopping.signal.aborted) process.exit(130);
    fail(/** @type {Error} */ (error).message);
  }
  status.close();
  stopWatching();
  for (const signal of signals) process.off(signal, stop);
}

/**
 * Calls it once when npm has died: of SIGHUP and SIGKILL, this process learns only by its parent. Returns how to stop watching.
 * @param {() => void} act
 */
function onNpmEnd(act) {
  // Without npm, the command may outlive the shell that started it.
  if (!process.env.npm_lifecycle_event) return () => {};
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, 500);
  timer.unref();
  return () => clearInterval(timer);
}

/** @param {import('./packages.mjs').Options} options */
async function installMissing(options) {
  if (isInstalled(root, { development }) && findNode(root)) return;
  const start = performance.now();
  if (spawnSync('npm', ['--version'], { stdio: 'ignore' }).status !== 0)
    fail('npm is missing. Install it (it comes with Node; on Debian: apt install npm).');
  if (!isInstalled(root, { development })) await installPackages(root, { development }, options);
  if (!findNode(root)) await installNode(root, options);
  if (!findNode(root)) {
    fail(
      `Node 24 does not run in ${root}. Install it from nodejs.org, or move the clone to a file system without noexec.`,
    );
  }
  options.show('');
  console.log(`✓ packages installed (${Math.round((performance.now() - start) / 1000)} s)`);
}

/** On a terminal one line that changes, with a bar if it counts; elsewhere a line for each change of words and each quarter. */
function statusLine() {
  const tty = process.stdout.isTTY;
  const start = performance.now();
  let line = '';
  let printed = '';
  const draw = () => {
    const seconds = `${Math.round((performance.now() - start) / 1000)} s`;
    const [, done, all] = line.match(/(\d+) of (?:about )?([\d,]+)/) ?? [];
    const part = done ? Math.min(Number(done) / Number(all?.replace(',', '')), 1) : 0;
    const bar = done ? ` [${'#'.repeat(part * 20).padEnd(20, '.')}]` : '';
    if (tty) return process.stdout.write(line ? `\r\x1b[K… ${line}${bar} ${seconds}` : '\r\x1b[K');
    const step = line.replace(/\d+/g, '') + Math.floor(part * 4);
    if (line && step !== printed) console.log(`… ${line}`);
    printed = step;
  };
  const timer = tty ? setInterval(draw, 500) : undefined;
  return {
    show(/** @type {string} */ next) {
      line = next;
      draw();
    },
    close() {
      clearInterval(timer);
      if (tty) process.stdout.write('\r\x1b[K');
    },
  };
}

/** Runs the script with Node 24. The IPC channel closes when this process dies. */
function run() {
  const child = spawn(findNode(root) ?? process.execPath, [join(root, script ?? ''), ...args], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Processes share compiled code, also across starts.
    env: {
      NODE_COMPILE_CACHE: compiled,
      ...process.env,
      PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
    },
  });
  let isStopping = false;
  for (const signal of signals) {
    process.on(signal, () => {
      isStopping = true;
      child.kill(signal);
    });
  }
  // A second signal would kill what the first one stops.
  onNpmEnd(() => isStopping || child.kill('SIGHUP'));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

// After the terminal has closed, writing fails, and the script still has to be stopped.
process.stdout.on('error', () => {});
checkMachine();
if (!(await isReady())) await install();
if (script) run();
