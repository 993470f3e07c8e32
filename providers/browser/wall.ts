/**
 * The wall around Chromium: a process of its own user in bubblewrap's namespaces, without a network, with a system call
 * filter, and with a folder of its own in memory. Inside it Chromium encloses its renderers once more, where this machine
 * allows nested namespaces (docs/decisions/platform/055-chromium-behind-two-walls.md).
 */
import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { joinGroups, limitFiles } from '#providers/sandbox/child-process.ts';
import { ownFilter } from '#providers/sandbox/seccomp.ts';

/** The user of Chromium where this process is root. Builds have another. */
const browserUser = '10002';
const memoryFolderBytes = 256 * 1024 * 1024;
const names = [
  'chrome-headless-shell',
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
/** Where the packages of these names have the program that their script starts. */
const behindScripts = ['/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome'];
/** Where programs of the system are. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/** `nested`: Chromium's own sandbox works inside the wall. `outer`: the wall is all there is. */
export type WallKind = 'nested' | 'outer';

/**
 * The program, or undefined if this machine has none. A headless shell is preferred: it has no window, and takes a third of
 * the CPU time of the browser. `configured` is a path, or empty to search the usual folders.
 */
export function findChromium(configured = ''): string | undefined {
  if (configured) return existsSync(configured) ? configured : undefined;
  const found = names
    .flatMap((name) => systemPath.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
  if (found === undefined || !isScript(found)) return found;
  const programs = [basename(found), 'chrome'].flatMap((name) => behindScripts.map((folder) => join(folder, name)));
  return programs.find((path) => existsSync(path)) ?? found;
}

function isScript(path: string): boolean {
  const begin = Buffer.alloc(2);
  const file = openSync(path, 'r');
  readSync(file, begin, 0, 2, 0);
  closeSync(file);
  return begin.toString() === '#!';
}

/** Every request is answered by us: nothing that Chromium does on its own account is wanted. */
const switches = [
  '--headless',
  '--remote-debugging-pipe',
  '--user-data-dir=/tmp/profile',
  '--no-startup-window',
  '--block-new-web-contents',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-gpu',
  '--disable-sync',
  '--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication,HttpsUpgrades,WebBluetooth,WebUSB',
  '--export-tagged-pdf=0',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--js-flags=--max-old-space-size=384',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--password-store=basic',
  '--renderer-process-limit=4',
];

/** Files of the system that Chromium reads: programs, libraries and fonts. */
const shown = ['/usr', '/lib', '/lib64', '/bin', '/etc/fonts', '/etc/ld.so.cache', '/etc/alternatives'];

type WallOptions = { groups?: readonly string[]; hasFilter?: boolean };

/** The command that starts Chromium behind the wall. Its file descriptors 3 and 4 are the pipe, 5 is the filter. */
export function wallCommand(
  kind: WallKind,
  program: string,
  { groups = [], hasFilter = true }: WallOptions = {},
): string[] {
  const script = [joinGroups, 'shift', limitFiles(4096), 'exec "$@"'];
  return [
    ...['/bin/sh', '-c', script.join('; '), 'enter', groups.join(' ')],
    ...['nice', '-n', '5', 'prlimit', '--core=0'],
    ...dropUser(),
    ...namespaces(kind, hasFilter, ownFolders(program)),
    ...[program, ...switches, ...(kind === 'outer' ? ['--no-sandbox'] : [])],
  ];
}

const environment = {
  PATH: '/usr/bin',
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  DBUS_SESSION_BUS_ADDRESS: 'disabled:',
};

/** Of `/opt` only what the program is in: this service and its data may be there too. */
function ownFolders(program: string): string[] {
  const paths = [program, realpathSync(program)].filter((path) => path.startsWith('/opt/'));
  return [...new Set(paths.map((path) => path.split('/', 3).join('/')))];
}

function namespaces(kind: WallKind, hasFilter: boolean, folders: readonly string[]): string[] {
  return [
    ...['bwrap', '--unshare-all', '--unshare-user', ...(kind === 'outer' ? ['--disable-userns'] : [])],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL', '--hostname', 'browser', '--clearenv'],
    ...(hasFilter ? ['--seccomp', '5'] : []),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...[...shown, ...folders].flatMap((path) => ['--ro-bind-try', path, path]),
    ...[
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--size',
      String(memoryFolderBytes),
      '--tmpfs',
      '/tmp',
      '--chdir',
      '/',
      '--',
    ],
  ];
}

/** Never as root: neither outside nor inside. */
function dropUser(): string[] {
  if (process.getuid?.() !== 0) return ['setpriv', '--no-new-privs'];
  return ['setpriv', '--reuid', browserUser, '--regid', browserUser, '--clear-groups', '--no-new-privs'];
}

/** The system call filter as a file to inherit, or undefined where there is none for this processor. */
export async function openFilter(kind: WallKind): Promise<{ fd: number; close(): Promise<void> } | undefined> {
  const filter = ownFilter(process.arch, { encloses: kind === 'nested' });
  if (!filter) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'frontage-filter-'));
  const path = join(folder, 'filter');
  await writeFile(path, filter);
  const file = await open(path);
  await rm(folder, { recursive: true });
  return { fd: file.fd, close: () => file.close() };
}
