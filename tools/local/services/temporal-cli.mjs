/**
 * Finds the Temporal CLI, which includes the development server and its UI; downloads or builds it if it is missing. Plain JavaScript without
 * packages: the first start calls it before it installs any.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

/** The last version that `go install` accepts: later ones have a `replace` directive. */
const version = '1.5.1';
const minuteMs = 60_000;
const quietMs = 20_000;

/** SHA-256 of the release's archives. */
const archives = /** @type {Record<string, string>} */ ({
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
});
const arch = process.arch === 'x64' ? 'amd64' : process.arch;
const ownArchive = `${process.platform}_${arch}`;

/** Where the archive is: first where Temporal's SDK looks for it. */
const addresses = [
  `https://temporal.download/cli/archive/v${version}?platform=${process.platform}&arch=${arch}`,
  `https://github.com/temporalio/cli/releases/download/v${version}/temporal_cli_${version}_${ownArchive}.tar.gz`,
];

/**
 * @typedef {(line: string) => void} Log
 * @typedef {{ signal?: AbortSignal | undefined, sha256?: string | undefined, limitMs?: number }} Limits
 */

/** Shared by all clones of this user. */
export function cacheFolder(env = process.env) {
  const { XDG_CACHE_HOME = '' } = env;
  // Its specification: a relative path is invalid.
  return join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'frontage');
}

/**
 * Path of the CLI: on PATH, cached, downloaded, or built with Go. Throws an error with one sentence for the user.
 * @param {Log} log
 * @param {{ cache?: string, from?: string[] } & Limits} [options]
 */
export async function findTemporal(log, options = {}) {
  const found = await presentTemporal(options.cache);
  if (found) return found;
  const { cache = cacheFolder(), from = testAddresses() ?? addresses } = options;
  const elsewhere = 'Set XDG_CACHE_HOME to a folder that you may write to and run programs from.';
  await mkdir(cache, { recursive: true })
    .then(() => access(cache, constants.W_OK))
    .catch((/** @type {Error} */ { message }) => {
      throw new Error(`The Temporal CLI needs a folder: ${message}. ${elsewhere}`);
    });
  await removeAbandoned(cache);
  const folder = await mkdtemp(join(cache, 'temporal-'));
  try {
    /** @type {string[]} */
    const problems = [];
    const archive = await download(from, log, problems, options);
    const made = archive ? await unpack(archive, folder) : await build(folder, log, problems, options.signal);
    const cached = cachedAt(cache);
    // Two clones may do this at once; each rename replaces a complete file.
    await rename(made, cached);
    if (!executable(cached))
      throw new Error(`${cached} cannot be run: its file system may be mounted noexec. ${elsewhere}`);
    return cached;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The CLI on PATH or in the cache. */
export async function presentTemporal(cache = cacheFolder()) {
  for (const found of [executableAt('temporal', []), executable(cachedAt(cache))])
    if (found && (await isTemporal(found))) return found;
}

const cachedAt = (/** @type {string} */ cache) => join(cache, `temporal-v${version}`);

/** Tests set these two, because they cannot reach the real addresses. */
const testAddresses = () => process.env.FRONTAGE_TEST_TEMPORAL_ADDRESSES?.split(',');
const expected = () => process.env.FRONTAGE_TEST_TEMPORAL_SHA256 ?? archives[ownArchive];

/** Other programs have this name too, and a disk that was full may have kept a part. */
async function isTemporal(/** @type {string} */ path) {
  const answer = await promisify(execFile)(path, ['--version'], { timeout: minuteMs }).catch(() => undefined);
  return answer !== undefined && /^temporal version/m.test(answer.stdout);
}

/**
 * Path of the program: on PATH, or in one of these folders.
 * @param {string} name
 * @param {string[]} also
 */
export function executableAt(name, also) {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...also];
  return folders.map((folder) => executable(resolve(folder, name))).find(Boolean);
}

/** @param {string} path */
function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Removes folders of processes that were killed an hour ago or earlier. */
async function removeAbandoned(/** @type {string} */ cache) {
  const names = (await readdir(cache)).filter((name) => /^temporal-\w{6}$/.test(name));
  for (const path of names.map((name) => join(cache, name))) {
    const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    if (usedAt < performance.timeOrigin + performance.now() - 60 * minuteMs)
      await rm(path, { recursive: true, force: true });
  }
}

/**
 * The archive from the first address that sends it completely; undefined, and the reasons in `problems`, if none does.
 * @param {string[]} from
 * @param {Log} log
 * @param {string[]} problems
 * @param {Limits} [options]
 */
async function download(from, log, problems, options = {}) {
  const { signal, sha256 = expected(), limitMs = quietMs } = options;
  if (!sha256) return void problems.push(`there is no archive for ${ownArchive}`);
  for (const url of from) {
    const host = new URL(url).hostname;
    const quiet = new AbortController();
    log(`downloading the Temporal CLI from ${host}`);
    try {
      const archive = await receive(url, log, quiet, limitMs, signal);
      const actual = createHash('sha256').update(archive).digest('hex');
      if (actual === sha256) return archive;
      problems.push(`${host} sent another file`);
    } catch (error) {
      signal?.throwIfAborted();
      const { message, cause } = /** @type {Error & { cause?: { code?: string } }} */ (error);
      const reason = quiet.signal.aborted ? `no data for ${limitMs / 1000} s` : (cause?.code ?? message);
      problems.push(`${host}: ${reason}`);
    }
  }
  return undefined;
}

/**
 * Aborts when nothing arrives for a while, also in the middle of the body.
 * @param {string} url
 * @param {Log} log
 * @param {AbortController} quiet
 * @param {number} limitMs
 * @param {AbortSignal | undefined} signal
 */
async function receive(url, log, quiet, limitMs, signal) {
  const timer = setTimeout(() => quiet.abort(), limitMs);
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([quiet.signal, ...(signal ? [signal] : [])]) });
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`);
    const all = Math.round(Number(answer.headers.get('content-length')) / 1e6);
    const chunks = [];
    let size = 0;
    for await (const chunk of answer.body) {
      timer.refresh();
      chunks.push(chunk);
      size += chunk.length;
      log(`downloading the Temporal CLI: ${Math.round(size / 1e6)}${all ? ` of ${all}` : ''} MB`);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Writes the program that a complete archive contains into this folder.
 * @param {Buffer} archive
 * @param {string} folder
 */
async function unpack(archive, folder) {
  const tar = gunzipSync(archive);
  const text = (/** @type {number} */ from, /** @type {number} */ to) =>
    tar.toString('latin1', from, to).split('\0')[0]?.trim() ?? '';
  for (let at = 0; at + 512 <= tar.length; ) {
    const size = Number.parseInt(text(at + 124, at + 136), 8) || 0;
    if (text(at, at + 100) === 'temporal') {
      const target = join(folder, 'temporal');
      await writeFile(target, tar.subarray(at + 512, at + 512 + size), { mode: 0o755, flush: true });
      return target;
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error('The archive of the Temporal CLI does not contain it. Put `temporal` on PATH instead.');
}

/**
 * About three minutes on two cores; once for this user.
 * @param {string} folder
 * @param {Log} log
 * @param {string[]} problems
 * @param {AbortSignal} [signal]
 */
async function build(folder, log, problems, signal) {
  if (!executableAt('go', [])) throw new Error(missing(problems, 'Go is not installed'));
  log('building the Temporal CLI with Go (takes about three minutes, only once)');
  const go = spawn('go', ['install', '-v', '-ldflags=-s -w', `github.com/temporalio/cli/cmd/temporal@v${version}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  const ended = new Promise((resolve, reject) => go.once('error', reject).once('close', resolve));
  ended.catch(() => {});
  // Its slowest step, the linker, needs a part of this.
  const timer = setTimeout(() => go.kill(), 5 * minuteMs);
  let last = '';
  let packages = 0;
  for await (const line of createInterface({ input: go.stderr })) {
    timer.refresh();
    last = line;
    if (!/^[\w./-]+$/.test(line)) continue;
    packages += 1;
    if (packages % 50 === 0) log(`building the Temporal CLI with Go: ${packages} of about 1,300 packages`);
  }
  const code = await ended.finally(() => clearTimeout(timer));
  if (code !== 0) throw new Error(missing(problems, `Go could not build it (${last.trim() || 'it was stopped'})`));
  return join(folder, 'temporal');
}

/**
 * The sentence with the three ways out.
 * @param {string[]} problems
 * @param {string} go
 */
function missing(problems, go) {
  return (
    `The Temporal CLI is missing: it could not be downloaded (${problems.join('; ')}), and ${go}. ` +
    'Put `temporal` on PATH, or allow downloads from temporal.download, or install Go 1.24 or newer.'
  );
}
