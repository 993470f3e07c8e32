/**
 * Finds the Temporal CLI, which includes the development server and its UI; downloads or builds it if it is missing.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { UserError } from '#tools/local/user-error.ts';

/** The last version that `go install` accepts: later ones have a `replace` directive. */
const version = 'v1.5.1';
const archives = 'https://temporal.download/cli/archive';

type Log = (line: string) => void;

/** Shared by all clones of this user. */
export function cacheFolder(env = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'frontage');
}

/** Path of the CLI: on PATH, cached, downloaded, or built with Go. Throws `UserError`. */
export async function findTemporal(log: Log, signal?: AbortSignal, cache = cacheFolder()): Promise<string> {
  const cached = join(cache, `temporal-${version}`);
  const found = onPath('temporal') ?? executable(cached);
  if (found) return found;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'temporal-'));
  try {
    const made = (await download(folder, log)) ?? (await build(folder, log, signal));
    // Two clones may do this at once; each rename replaces a complete file.
    await rename(made, cached);
    return cached;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const onPath = (name: string) => executableAt(name, []);

/** Path of the program: on PATH, or in one of these folders. */
export function executableAt(name: string, also: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...also];
  return folders.map((folder) => executable(join(folder, name))).find(Boolean);
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

/** Downloads the release archive. Undefined if it cannot be reached. */
export async function download(folder: string, log: Log, from = archives): Promise<string | undefined> {
  const target = join(folder, 'temporal');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), 5_000);
  try {
    const url = `${from}/${version}?platform=${process.platform}&arch=${arch}`;
    const answer = await fetch(url, { signal: timeout.signal });
    clearTimeout(timer);
    if (!answer.ok || !answer.body) return undefined;
    log('downloading the Temporal CLI');
    const tar = extract();
    const unpacked = pipeline(Readable.fromWeb(answer.body), createGunzip(), tar);
    for await (const entry of tar) {
      if (entry.header.name === 'temporal') await pipeline(entry, createWriteStream(target, { mode: 0o755 }));
      else entry.resume();
    }
    await unpacked;
    return executable(target);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** About three minutes on two cores; once for this user. */
async function build(folder: string, log: Log, signal: AbortSignal | undefined): Promise<string> {
  if (!onPath('go')) {
    throw new UserError(
      'The Temporal CLI is missing and could not be downloaded. Put `temporal` on PATH, or install Go 1.24 or newer.',
    );
  }
  log('building the Temporal CLI with Go (takes about three minutes, only once)');
  const go = spawn('go', ['install', '-v', `github.com/temporalio/cli/cmd/temporal@${version}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  const ended = new Promise<number | null>((resolve, reject) => go.once('error', reject).once('close', resolve));
  let last = '';
  let packages = 0;
  for await (const line of createInterface({ input: go.stderr })) {
    last = line;
    if (!/^[\w./-]+$/.test(line)) continue;
    packages += 1;
    if (packages % 50 === 0) log(`building the Temporal CLI with Go: ${packages} of about 1,300 packages`);
  }
  if ((await ended) !== 0) {
    throw new UserError(`The Temporal CLI could not be built with Go: ${last}. Put \`temporal\` on PATH instead.`);
  }
  return join(folder, 'temporal');
}
