/** Builds without any other software: Linux namespaces made by util-linux, which every distribution has. */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { siteFolder } from './image/image.ts';
import {
  type Enclosure,
  type EnclosureLimits,
  openProcessSandbox,
  type Place,
  type ProcessSandboxOptions,
} from './process-sandbox.ts';
import type { Sandbox } from './sandbox.ts';

/** Without its comments: it is a part of command lines. */
const build = readFileSync(join(import.meta.dirname, 'namespaces.sh'), 'utf8').replaceAll(/^ *#.*\n/gm, '');

/** Process 1 mounts its view of the processes. U1 may have one user namespace below it: the build's own, so a build can make none. */
const mountProcesses = `set -eu; image=$1; shift
mount -t proc -o nosuid,nodev,noexec proc "$image/proc"
echo 1 > "$image/proc/sys/user/max_user_namespaces"
exec "$@"`;

/** Commands of a shell need no program, and there is none once the root is another. */
const wait = `set -eu
echo waiting >&5
read -r begin <&6
cd ${siteFolder}
exec "$@" 3<&- 5>&- 6<&-`;

/** prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, struct sock_fprog *); its number differs between processors. */
const perl = `open(F, "<&=3") && read(F, $f, 65536) or die;
$n = ${process.arch === 'x64' ? 157 : 167};
$p = pack("S x6 P", length($f) / 8, $f);
syscall($n, 22, 2, $p) == 0 or die "$!";
exec(@ARGV) or die "$!";`;

/** From Linux 5.14 on, a limit of processes counts those of one user namespace; before, all of the user's on the machine. */
const [major = 0, minor = 0] = release().split('.').map(Number);
const countsByNamespace = major > 5 || (major === 5 && minor >= 14);

/** Ways to load a filter: setpriv can from util-linux 2.41 on, and most systems have Perl. */
const loaders = [
  ['setpriv', '--seccomp-filter', '/dev/fd/3'],
  ['perl', '-e', perl],
];

/** Creates the root file system if it is missing, tests it once, and returns the sandbox. `ways` are those to load a filter. */
export function openNamespacesSandbox(options: ProcessSandboxOptions, ways = loaders): Promise<Sandbox> {
  return openProcessSandbox('namespaces', options, ways.map(encloseWith), countsByNamespace);
}

function encloseWith(loader: string[]): Enclosure {
  return ({ root, filter }: Place, { memoryBytes, pidsMax }: EnclosureLimits) => [
    ...['setpriv', '--no-new-privs', '--pdeathsig', 'KILL'],
    ...['unshare', '--user', '--map-root-user', '--mount', '--net', '--ipc', '--uts', '--cgroup'],
    ...['sh', '-c', build, 'namespaces', root, String(memoryBytes)],
    ...['unshare', '--pid', '--fork', '--kill-child', 'sh', '-c', mountProcesses, 'processes', root],
    ...['setsid', 'unshare', '--user', ...limitProcesses(pidsMax), 'setpriv', '--no-new-privs'],
    ...[...(filter ? loader : []), 'env', '-i', 'PATH=/usr/bin', 'sh', '-c', wait, 'wait'],
  ];
}

function limitProcesses(most: number): string[] {
  return countsByNamespace ? ['prlimit', `--nproc=${most}`] : [];
}
