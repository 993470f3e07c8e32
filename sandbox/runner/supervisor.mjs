/**
 * Process 1 of a sandbox: one site in, its built files out, then the end.
 *
 * stdin   one line of JSON `{ "siteUrl": …, "endOfLog": … }`, then the source as a tar
 * stdout  a tar: `dist/…` for each built file, and at its end `verdict.json`:
 *         `{ "status": "built" }` or `{ "status": "failed", "message": …, "outOfMemory": true | false }`
 * stderr  the build log; after it the words of `endOfLog`, which site code does not know
 *
 * Whoever has read both ends the sandbox. It does not end by itself, because an engine drops what a slow reader has
 * not read two seconds after the end; an end without a verdict is a fault of the platform or of the machine.
 *
 * All but stdin waits until stdin speaks, and Astro is being imported meanwhile: a sandbox started ahead is warm.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { copyFile, lstat, open, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { readHeader, SiteFailure, unpack } from './source.mjs';

const packages = dirname(import.meta.dirname);
const root = process.env.FRONTAGE_ROOT ?? '/site';
const temporary = tmpdir();
const reasonBytesMax = 16_384;
const lingerMs = 60_000;

/** Site code runs in this process, never in ours: our stdout is the way out, and it must not reach it. */
function startFramework() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'build.mjs')], {
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
  let text = '';
  for await (const chunk of stream) if (text.length < reasonBytesMax) text += chunk;
  try {
    return String(JSON.parse(text).message).slice(0, 4_000);
  } catch {
    return undefined;
  }
}

async function* listFiles(folder) {
  const items = await readable(folder, () => readdir(join(root, folder), { withFileTypes: true }));
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const item of items) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory()) yield* listFiles(path);
    else yield path;
  }
}

/** Site code may have left what cannot be read, or be named: that is its failure, not ours. */
async function readable(path, read) {
  try {
    return await read();
  } catch (error) {
    if (!error.code) throw error;
    const why = path.includes('\ufffd') ? 'its name is no UTF-8' : error.code;
    throw new SiteFailure(`The build wrote ${path.slice(0, 200)}, which cannot be read (${why}).`);
  }
}

const kinds = [
  ['isDirectory', 'a folder'],
  ['isSymbolicLink', 'a symbolic link'],
  ['isFIFO', 'a named pipe'],
  ['isSocket', 'a socket'],
  ['isBlockDevice', 'a device'],
  ['isCharacterDevice', 'a device'],
];

function kindOf(found) {
  return kinds.find(([test]) => found[test]())?.[1] ?? 'no regular file';
}

async function requireHome() {
  const output = await lstat(join(root, 'dist')).catch(() => undefined);
  if (output && !output.isDirectory()) {
    throw new SiteFailure(`The build made its output folder dist ${output.isFile() ? 'a file' : kindOf(output)}.`);
  }
  if (!output || !(await readable('dist', () => readdir(join(root, 'dist')))).includes('index.html')) {
    throw new SiteFailure('The build wrote no index.html. Add a home page, for example src/pages/index.astro.');
  }
}

async function writeFiles(tar) {
  await requireHome();
  for await (const path of listFiles('dist')) {
    const found = await readable(path, () => lstat(join(root, path)));
    if (!found.isFile()) {
      throw new SiteFailure(`The build wrote ${path}, which is ${kindOf(found)}. A site consists of regular files.`);
    }
    const file = await readable(path, () => open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW));
    const { size } = await file.stat();
    const entry = tar.entry({ name: path, size, mtime: new Date(0) });
    if (size === 0) entry.end();
    await (size === 0 ? file.close() : pipeline(file.createReadStream({ end: size - 1 }), entry));
  }
}

async function supervise() {
  const child = startFramework();
  const exit = once(child, 'exit');
  const { siteUrl, endOfLog } = await readHeader(process.stdin);
  const tar = pack();
  const sent = pipeline(tar, process.stdout, { end: false });
  const verdict = { status: 'built' };
  try {
    await unpack(process.stdin, root);
    await furnish();
    await runFramework(child, exit, { root, temporary, siteUrl });
    await writeFiles(tar);
  } catch (error) {
    if (!(error instanceof SiteFailure)) throw error;
    Object.assign(verdict, { status: 'failed', message: error.message, outOfMemory: error.outOfMemory });
  }
  tar.entry({ name: 'verdict.json', mtime: new Date(0) }, JSON.stringify(verdict));
  tar.finalize();
  process.stderr.write(endOfLog);
  await sent;
  setTimeout(() => process.exit(0), lingerMs);
}

await supervise();
