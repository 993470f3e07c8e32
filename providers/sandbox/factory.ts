/** Selects the sandbox that this machine supports. */
import { access, constants } from 'node:fs/promises';
import { homedir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Config } from '#runtime/config.ts';
import { openBubblewrapSandbox } from './bubblewrap.ts';
import { openDockerSandbox } from './docker.ts';
import { PackagesMissing, type Progress } from './image/image.ts';
import { readMachine } from './machine.ts';
import { openNamespacesSandbox } from './namespaces.ts';
import type { ProcessSandboxOptions } from './process-sandbox.ts';
import { explainRefusal, NoSandbox, type SandboxRefusal } from './refusals.ts';
import type { Sandbox } from './sandbox.ts';
import { openSeatbeltSandbox } from './seatbelt.ts';
import { openUnprotectedSandbox } from './unprotected.ts';
import type { WarmOptions } from './warm-pool.ts';

/** Older engines let a container's files reach the host through the archive calls. We make none, but log a warning. */
const safeEngine = [29, 5, 1];
const engineAnswersMs = 5_000;
const usualSocket = '/var/run/docker.sock';
/** Memory that a warm sandbox uses while it waits. */
const idleBytes = 0.7 * 1024 ** 3;

export type OpenSandboxOptions = {
  mode: Config['sandbox'];
  dataDir: string;
  /** `unix://…`, `tcp://…`, or empty to try the usual socket paths. */
  dockerHost: string;
  /** Stable id of this installation: letters, digits, `-` and `_`. */
  owner: string;
  /** Sandboxes to start in advance; none by default. `count` defaults to one per concurrent build, if memory allows. */
  warm?: { count?: number | undefined; slots: number } & Pick<WarmOptions, 'limits' | 'after'>;
  log: { info: (text: string) => void; warn: (text: string) => void };
  onProgress: Progress;
};

/** In the order in which `auto` tries them. */
const openers = {
  docker: openDocker,
  bubblewrap: openBubblewrap,
  namespaces: openNamespaces,
  seatbelt: openSeatbelt,
};

/**
 * Opens the sandbox of the mode. `auto` uses the first that works, and returns `undefined` if none does: this
 * installation cannot build sites. Any other mode rejects with NoSandbox if it does not work. Builds are unprotected only on request.
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox | undefined> {
  const { mode, log } = options;
  if (!/^[\w-]{1,64}$/.test(options.owner))
    throw new Error('The sandbox owner’s name must consist of 1 to 64 letters, digits, hyphens and underscores.');
  if (mode === 'off') return undefined;
  if (mode === 'none-run-builds-unprotected') {
    log.warn('Builds run UNPROTECTED: every site’s code runs with the permissions of this service.');
    return openUnprotectedSandbox(options);
  }
  const found = await findSandbox({ ...options, mode });
  if ('sandbox' in found) return found.sandbox;
  const none = new NoSandbox(found.refusals);
  if (mode !== 'auto') throw none;
  log.warn(`No sandbox is available on this machine, so sites cannot be built here. ${none.message}`);
  return undefined;
}

/** The sandbox of the mode, for `auto` the first that works here; or why each does not. */
export async function findSandbox(
  options: OpenSandboxOptions & { mode: 'auto' | keyof typeof openers },
): Promise<{ sandbox: Sandbox } | { refusals: SandboxRefusal[] }> {
  const kinds = options.mode === 'auto' ? (['docker', 'bubblewrap', nativeKind()] as const) : [options.mode];
  const refusals: SandboxRefusal[] = [];
  for (const kind of kinds) {
    try {
      return { sandbox: { ...(await openers[kind](options)), refusals } };
    } catch (error) {
      if (error instanceof PackagesMissing) return { refusals: [{ kind, reason: error.message, remedy: '' }] };
      refusals.push(explainRefusal(kind, readMachine(options.dataDir), messageOf(error)));
    }
  }
  return { refusals };
}

/** What the system itself offers. */
function nativeKind(): 'namespaces' | 'seatbelt' {
  return process.platform === 'darwin' ? 'seatbelt' : 'namespaces';
}

/** A program that failed says why on its stderr. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'stderr' in error && error.stderr ? String(error.stderr) : error.message;
}

async function openDocker(options: OpenSandboxOptions): Promise<Sandbox> {
  const docker = await findEngine(options.dockerHost);
  if (!docker) throw new Error(await whyNoEngine(options.dockerHost));
  const [{ Version }, { MemTotal }] = await Promise.all([docker.version(), docker.info()]);
  if (isOlder(Version, safeEngine)) {
    options.log.warn(
      `The container engine ${Version} is older than ${safeEngine.join('.')}, which fixed two vulnerabilities. Please update the engine.`,
    );
  }
  options.log.info(`Sites are built in containers (engine ${Version}).`);
  return openDockerSandbox({ ...options, docker, warm: warmOptions(options, MemTotal) });
}

async function openBubblewrap(options: OpenSandboxOptions): Promise<Sandbox> {
  const sandbox = await openBubblewrapSandbox(processOptions(options));
  options.log.info('Sites are built with bubblewrap, in Linux namespaces.');
  return sandbox;
}

async function openNamespaces(options: OpenSandboxOptions): Promise<Sandbox> {
  const sandbox = await openNamespacesSandbox(processOptions(options));
  options.log.info('Sites are built in Linux namespaces.');
  return sandbox;
}

async function openSeatbelt(options: OpenSandboxOptions): Promise<Sandbox> {
  const sandbox = await openSeatbeltSandbox(options);
  options.log.warn('Sites are built with macOS’s sandbox-exec, which limits neither memory nor processes.');
  return sandbox;
}

/** Node reports a process without a limit as constrained to 0 bytes, or to more than the machine has. */
function processOptions(options: OpenSandboxOptions): ProcessSandboxOptions {
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return { ...options, warn: (text) => options.log.warn(text), warm: warmOptions(options, memoryBytes) };
}

/** Warm sandboxes use at most an eighth of the memory. */
function warmOptions({ warm, log }: OpenSandboxOptions, memoryBytes: number): WarmOptions | undefined {
  if (!warm) return undefined;
  const count = warm.count ?? Math.min(warm.slots, Math.floor(memoryBytes / 8 / idleBytes));
  return { count, limits: warm.limits, after: warm.after, info: log.info };
}

async function whyNoEngine(dockerHost: string): Promise<string> {
  const none = 'No container engine is responding.';
  if (dockerHost)
    return /^(unix|tcp|http):/.test(dockerHost) ? none : `DOCKER_HOST is ${dockerHost}, not unix:// or tcp://`;
  const closed = await access(usualSocket, constants.W_OK).then(
    () => false,
    (error) => error.code === 'EACCES',
  );
  return closed ? `${usualSocket} is closed to your user` : none;
}

/** Returns the engine at the address, or the first that responds at the usual socket paths. */
export async function findEngine(dockerHost: string): Promise<Docker | undefined> {
  const usual = [
    usualSocket,
    ...['.docker/run', '.colima/default', '.orbstack/run'].map((folder) => join(homedir(), folder, 'docker.sock')),
  ];
  const hosts = dockerHost ? [dockerHost] : usual.map((path) => `unix://${path}`);
  for (const host of hosts) {
    const docker = await connect(host).catch(() => undefined);
    if (docker) return docker;
  }
  return undefined;
}

async function connect(host: string): Promise<Docker> {
  const address = new URL(host);
  const socketPath = /^unix:\/\/(.+)/.exec(host)?.[1];
  if (socketPath) await access(socketPath);
  // Loaded only where there may be an engine.
  const { default: Engine } = await import('dockerode');
  const docker = socketPath
    ? new Engine({ socketPath })
    : new Engine({ protocol: 'http', host: address.hostname, port: Number(address.port) || 2375 });
  const silence = delay(engineAnswersMs, undefined, { ref: false }).then(() => Promise.reject(new Error('silent')));
  await Promise.race([docker.ping(), silence]);
  return docker;
}

function isOlder(version: string, than: number[]): boolean {
  const parts = version.split(/[.+-]/).map(Number);
  const index = than.findIndex((part, at) => (parts[at] ?? 0) !== part);
  return index >= 0 && (parts[index] ?? 0) < (than[index] ?? 0);
}
