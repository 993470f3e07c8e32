/**
 * A machine that has only the programs it is given: this one's, in namespaces of its own. It has its own loopback and no other network,
 * its own process ids, and perhaps an ordinary user. Needs root, util-linux and iproute2.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeRunFolder, removeRunFolder } from '#test/stack/run-folder.ts';
import { until } from '#test/stack/until.ts';
import { commandLine } from '#tools/local/processes.ts';

const root = join(import.meta.dirname, '../../..');
/** The program that offers downloads, which a machine does not start itself. */
export const downloads = join(import.meta.dirname, 'downloads.ts');
const folders = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
/** Not the sandbox's user. */
const ordinary = 10_005;

/** What every distribution has: a shell, the core utilities and util-linux. Neither bash nor ldd. */
const base = `
  sh env id uname cat cp mv rm mkdir rmdir chmod chown ln ls touch true false test sleep date mktemp readlink
  realpath dirname basename tr cut head tail sort wc od dd yes sync tee echo printf pwd stat df du kill nice
  timeout tar gzip sed grep find xargs chroot unshare nsenter setpriv setsid mount umount pivot_root prlimit flock
  getent mkfifo mknod`
  .trim()
  .split(/\s+/);

/** The capabilities of root in a container. */
const containerCapabilities = [
  ...['chown', 'dac_override', 'fsetid', 'fowner', 'mknod', 'net_raw', 'setgid', 'setuid', 'setfcap', 'setpcap'],
  ...['net_bind_service', 'sys_chroot', 'kill', 'audit_write'],
];

export type MachineOptions = {
  /** Besides a shell, the core utilities, util-linux, Node, npm and git. */
  programs?: string[];
  /** Files to put on PATH under other names. */
  files?: Record<string, string>;
  /** Without a way to become root. */
  asUser?: boolean;
  /** Like a container: root without the right to mount, and no user namespaces. */
  contained?: boolean;
  /** The socket of a container engine. */
  engine?: string;
  /** The npm cache that has all packages: no registry can be reached. */
  npmCache: string;
  env?: NodeJS.ProcessEnv;
};

export type Machine = {
  /** The clone of the project. */
  clone: string;
  home: string;
  /** Starts a program in the clone, in a session of its own. Its output is piped. */
  spawn(command: string[]): ChildProcess;
  /** Runs a program of the host in the machine's network. */
  inNetwork(command: string[]): ChildProcess;
  /** The pid here of the program that `spawn` started. */
  pidOf(child: ChildProcess): Promise<number>;
  /** The command lines of the processes that `spawn` and its children left. */
  processes(): string[];
  /** Kills all processes at once, and starts the machine again with the same files. */
  reboot(): Promise<void>;
  remove(): Promise<void>;
};

export async function makeMachine(options: MachineOptions): Promise<Machine> {
  const folder = makeRunFolder();
  const clone = join(folder, 'frontage');
  const home = join(folder, 'home');
  const ids = options.asUser ? ordinary : 0;
  for (const name of ['bin', 'empty', 'root', 'home', 'home/tmp']) mkdirSync(join(folder, name));
  linkPrograms(folder, options);
  copyFileSync('/etc/passwd', join(folder, 'passwd'));
  appendFileSync(join(folder, 'passwd'), `someone:x:${ordinary}:${ordinary}::${home}:/bin/sh\n`);
  copyFileSync('/etc/hosts', join(folder, 'hosts'));
  appendFileSync(join(folder, 'hosts'), '127.0.0.1 temporal.download\n');
  execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${root}`, clone]);
  execFileSync('chown', ['-R', `${ids}:${ids}`, clone, home]);
  chownSync(options.npmCache, ids, ids);
  execFileSync('chown', ['-R', `${ids}:${ids}`, options.npmCache]);
  let init = await boot(folder, options);

  const enter = (...namespaces: string[]) => ['nsenter', `--target=${init.pid}`, ...namespaces];
  const start = (command: string[]) =>
    spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    clone,
    home,
    spawn: (command) =>
      start([
        ...[...enter('--mount', '--net', '--pid'), 'setsid'],
        ...(options.contained ? contained(folder) : []),
        ...(options.asUser ? ['setpriv', `--reuid=${ids}`, `--regid=${ids}`, '--clear-groups'] : []),
        ...['env', '-i', 'PATH=/usr/bin', 'LANG=C.UTF-8', `HOME=${home}`, `TMPDIR=${join(home, 'tmp')}`],
        ...[`npm_config_cache=${options.npmCache}`, 'npm_config_offline=true'],
        ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
        ...['sh', '-c', `cd ${clone} && exec "$@"`, 'sh', ...command],
      ]),
    inNetwork: (command) => start([...enter('--net', '--pid'), ...command]),
    async pidOf({ pid }) {
      const children = () => childrenOf(pid as number);
      return (await until(children, ([first]) => first !== undefined))[0] as number;
    },
    processes: () => processesOf(init.pid).filter((line) => line.includes(folder) && !line.includes(downloads)),
    async reboot() {
      await shutDown(init);
      init = await boot(folder, options);
    },
    async remove() {
      await shutDown(init);
      removeRunFolder(folder);
    },
  };
}

/** Links to programs, which stay reachable below `/mnt` when `/usr/bin` is hidden. */
function linkPrograms(folder: string, { programs = [], files = {} }: MachineOptions): void {
  for (const name of [...base, 'node', 'npm', 'git', ...programs]) {
    const path = folders.map((one) => join(one, name)).find(existsSync);
    if (!path) throw new Error(`This machine has no ${name}.`);
    const real = realpathSync(path);
    symlinkSync(real.replace(/^\/usr\//, '/mnt/'), join(folder, 'bin', name));
  }
  for (const [name, path] of Object.entries(files)) symlinkSync(path, join(folder, 'bin', name));
}

/** Runs the first process of new namespaces, which waits, and returns its pid here. */
async function boot(folder: string, { engine }: MachineOptions): Promise<{ pid: number; outer: ChildProcess }> {
  const at = (name: string) => join(folder, name);
  const script = [
    'set -e',
    'ip link set lo up',
    'mount --bind /usr /mnt',
    ...['passwd', 'hosts'].map((name) => `mount --bind ${at(name)} /etc/${name}`),
    'mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev/shm',
    ...(engine ? [`touch /run/docker.sock && mount --bind ${engine} /run/docker.sock`] : []),
    `mount --rbind / ${at('root')}`,
    ...['', at('root')].flatMap((prefix) => [
      ...['/usr/sbin', '/usr/local'].map((hidden) => `mount --bind ${at('empty')} ${prefix}${hidden}`),
      `mount --bind ${at('bin')} ${prefix}/usr/bin`,
    ]),
    'echo up',
    // The shell collects orphans that have exited.
    'while :; do sleep 86400 & wait; done',
  ];
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  // Should this process be killed, the machine is too.
  const outer = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', ...namespaces, 'sh', '-c', script.join('\n')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.race([once(outer.stdout as NodeJS.ReadableStream, 'data'), once(outer, 'exit')]);
  if (!String(said).includes('up')) throw new Error('The machine did not start: are you root?');
  return { pid: childrenOf(outer.pid as number)[0] as number, outer };
}

/** Kills the first process, and with it all others of its namespace. */
async function shutDown({ outer }: { outer: ChildProcess }): Promise<void> {
  const ended = once(outer, 'exit');
  outer.kill('SIGKILL');
  await ended;
}

/** In a chroot the kernel refuses user namespaces. */
function contained(folder: string): string[] {
  const kept = containerCapabilities.map((name) => `+${name}`).join(',');
  return ['unshare', `--root=${join(folder, 'root')}`, 'setpriv', `--bounding-set=-all,${kept}`];
}

/** The command lines of all other processes in the same namespace. */
function processesOf(init: number): string[] {
  const namespace = readlinkSync(`/proc/${init}/ns/pid`);
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isIn = Number(pid) !== init && readlinkSync(`/proc/${pid}/ns/pid`) === namespace;
      return isIn ? [commandLine(Number(pid))] : [];
    } catch {
      return [];
    }
  });
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return execFileSync('cat', [file], { encoding: 'utf8' }).split(' ').filter(Boolean).map(Number);
}
