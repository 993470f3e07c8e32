// Runs a script of this project from a bare clone: `node tools/scripts/bootstrap.mjs tools/scripts/start.ts …`.
// Plain JavaScript without packages, because it is what installs them and the Node that runs TypeScript.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const node = join(root, 'node_modules', '.bin', 'node');
const compiled = join(root, 'node_modules', '.cache', 'compiled');
const lockFile = join(root, '.frontage', 'install.lock');

/** Says one line and ends. */
function give(up) {
  console.error(`✗ ${up}`);
  process.exit(1);
}

function checkMachine() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    give(
      `Node ${process.versions.node} is too old: install Node 20 or newer from your system's packages or nodejs.org.`,
    );
  }
  if (!works('git', ['--version'])) give('git is missing: install it (on Debian: apt install git).');
}

function works(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** npm leaves a list of what it put into node_modules: installed means that it holds every version of the lockfile. */
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

/** True when this process now holds the right to install. */
function takeLock() {
  mkdirSync(dirname(lockFile), { recursive: true, mode: 0o711 });
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!holderLives()) rmSync(lockFile, { force: true });
    return false;
  }
}

function holderLives() {
  try {
    const pid = Number(readFileSync(lockFile, 'utf8'));
    // Between its creation and its first byte the file is empty.
    return !pid || process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function install() {
  for (let told = false; !takeLock(); told = true) {
    if (!told) console.log(`… waiting for another process that installs the packages (${lockFile})`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    if (!isInstalled()) await npmInstall();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Not `npm ci`: it refuses a lockfile written where the optional packages of other platforms were not on offer. */
async function npmInstall() {
  if (!works('npm', ['--version']))
    give('npm is missing: install it (it comes with Node; on Debian: apt install npm).');
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
  let said = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (said += text));
  const code = await new Promise((resolve) => npm.on('close', resolve));
  clearInterval(timer);
  if (tty) process.stdout.write('\r\x1b[K');
  if (code !== 0) {
    const log = join(root, '.frontage', 'npm-install.log');
    writeFileSync(log, said);
    const line =
      said.split('\n').find((one) => /^npm (error|ERR!) (?!code|errno|syscall)\S/.test(one)) ?? `exit code ${code}`;
    give(`The packages could not be installed: ${line} (log: ${log}; once mended, run the same command again)`);
  }
  if (!works(node, ['--version'])) {
    give(
      'npm ran no install scripts, so Node 24 is missing: run `npm config set ignore-scripts false` and start again.',
    );
  }
  console.log(`✓ packages installed (${seconds()})`);
}

/** Hands over to Node 24. The channel tells the script when this process dies. */
function run(script, args) {
  const path = join(root, 'node_modules', '.bin');
  const child = spawn(node, [join(root, script), ...args], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // What one process has compiled the others load, and the next start.
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, PATH: `${path}:${process.env.PATH ?? ''}` },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exit(signal ? 128 + ({ SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1) : code);
  });
}

const [script, ...args] = process.argv.slice(2);
if (!script) give('Name the script to run.');
checkMachine();
if (!existsSync(join(root, 'node_modules')) || !isInstalled()) await install();
run(script, args);
