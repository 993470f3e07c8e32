// Runs a script of this project from a bare clone: `node tools/scripts/bootstrap.mjs tools/scripts/start.ts …`.
// Plain JavaScript without packages, because it installs them and the Node that runs TypeScript.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const node = join(root, 'node_modules', '.bin', 'node');
const compiled = join(root, 'node_modules', '.cache', 'compiled');
const lockFile = join(root, '.frontage', 'install.lock');

/** Prints one line and exits. */
function fail(message) {
  console.error(`✗ ${message}`);
  process.exit(1);
}

function checkMachine() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(
      `Node ${process.versions.node} is too old. Install Node 20 or newer from your system's packages or nodejs.org.`,
    );
  }
  if (!works('git', ['--version'])) fail('git is missing. Install it (on Debian: apt install git).');
}

function works(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** npm writes a list of what it installed. Installed means that the list contains every version of the lockfile. */
function isInstalled() {
  const wanted = packages(join(root, 'package-lock.json'));
  const present = packages(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !present) return false;
  const differs = ([path, { version, optional }]) =>
    path !== '' && present[path]?.version !== version && !(optional && !present[path]);
  return !Object.entries(wanted).some(differs) && works(node, ['--version']);
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** True if this process now holds the install lock. */
function acquireLock() {
  mkdirSync(dirname(lockFile), { recursive: true, mode: 0o711 });
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isHolderAlive()) rmSync(lockFile, { force: true });
    return false;
  }
}

function isHolderAlive() {
  try {
    const pid = Number(readFileSync(lockFile, 'utf8'));
    // Between its creation and its first byte the file is empty.
    return !pid || process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function install() {
  for (let logged = false; !acquireLock(); logged = true) {
    if (!logged) console.log(`… waiting for another process to install the packages (${lockFile})`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    if (!isInstalled()) await npmInstall();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Not `npm ci`: it refuses a lockfile that lacks the optional packages of other platforms. */
async function npmInstall() {
  if (!works('npm', ['--version']))
    fail('npm is missing. Install it (it comes with Node; on Debian: apt install npm).');
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  const tty = process.stdout.isTTY;
  const show = () => tty && process.stdout.write(`\r… installing packages (npm install) ${seconds()} `);
  if (!tty) console.log('… installing packages (npm install)');
  const timer = setInterval(show, 500);
  const npm = spawn('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (output += text));
  const code = await new Promise((resolve) => npm.on('close', resolve));
  clearInterval(timer);
  if (tty) process.stdout.write('\r\x1b[K');
  if (code !== 0) {
    const log = join(root, '.frontage', 'npm-install.log');
    writeFileSync(log, output);
    const line =
      output.split('\n').find((one) => /^npm (error|ERR!) (?!code|errno|syscall)\S/.test(one)) ?? `exit code ${code}`;
    fail(`The packages could not be installed: ${line} (log: ${log}; fix the problem and run the same command again)`);
  }
  if (!works(node, ['--version'])) {
    fail(
      'npm did not run install scripts, so Node 24 is missing. Run `npm config set ignore-scripts false` and retry.',
    );
  }
  console.log(`✓ packages installed (${seconds()})`);
}

/** Runs the script with Node 24. The IPC channel closes when this process dies. */
function run(script, args) {
  const path = join(root, 'node_modules', '.bin');
  const child = spawn(node, [join(root, script), ...args], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Processes share compiled code, also across starts.
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, PATH: `${path}:${process.env.PATH ?? ''}` },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exit(signal ? 128 + ({ SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1) : code);
  });
}

const [script, ...args] = process.argv.slice(2);
if (!script) fail('Specify the script to run.');
checkMachine();
if (!existsSync(join(root, 'node_modules')) || !isInstalled()) await install();
run(script, args);
