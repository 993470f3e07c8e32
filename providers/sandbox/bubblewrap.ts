/** Builds without a container engine: Linux namespaces made by bubblewrap. */
import { siteFolder } from './image/image.ts';
import { type EnclosureLimits, openProcessSandbox, type Place, type ProcessSandboxOptions } from './process-sandbox.ts';
import type { Sandbox } from './sandbox.ts';

/** Creates the root file system if it is missing, tests it once, and returns the sandbox. */
export function openBubblewrapSandbox(options: ProcessSandboxOptions): Promise<Sandbox> {
  return openProcessSandbox('bubblewrap', options, [enclose]);
}

function enclose({ root, filter }: Place, { memoryBytes }: EnclosureLimits): string[] {
  const shown = ['usr', 'lib', 'lib64', 'etc', 'opt'].flatMap((name) => ['--ro-bind', `${root}/${name}`, `/${name}`]);
  return [
    'bwrap',
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...['--cap-drop', 'ALL', '--hostname', 'build', '--clearenv', '--setenv', 'PATH', '/usr/bin'],
    ...(filter ? ['--seccomp', '3'] : []),
    ...shown,
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', String(Math.round(memoryBytes / 2)), '--tmpfs', '/tmp'],
    ...['--perms', '0700', '--size', String(memoryBytes), '--tmpfs', siteFolder],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', siteFolder, '--'],
  ];
}
