/** Commands that install what this machine lacks, with its own package manager. */
import { executableAt } from './services/temporal-cli.mjs';

/** The package manager's program, and how it installs. The first one on PATH is used. */
const managers = {
  'apt-get': 'apt install',
  dnf: 'dnf install',
  apk: 'apk add',
  pacman: 'pacman -S',
  zypper: 'zypper install',
  brew: 'brew install',
} as const;
type Manager = keyof typeof managers;

/** The packages of each program. A manager without an entry has none. */
const packages = {
  bubblewrap: {
    'apt-get': 'bubblewrap',
    dnf: 'bubblewrap',
    apk: 'bubblewrap',
    pacman: 'bubblewrap',
    zypper: 'bubblewrap',
  },
  chromium: {
    'apt-get': 'chromium',
    dnf: 'chromium',
    apk: 'chromium',
    pacman: 'chromium',
    zypper: 'chromium',
  },
  docker: {
    'apt-get': 'docker.io',
    dnf: 'moby-engine',
    apk: 'docker',
    pacman: 'docker',
    zypper: 'docker',
    brew: 'colima docker',
  },
  go: { 'apt-get': 'golang-go', dnf: 'golang', apk: 'go', pacman: 'go', zypper: 'go', brew: 'go' },
  pebble: { 'apt-get': 'pebble' },
  powerdns: {
    'apt-get': 'pdns-server pdns-backend-sqlite3',
    dnf: 'pdns pdns-backend-sqlite',
    apk: 'pdns pdns-backend-sqlite3 pdns-doc',
    pacman: 'powerdns',
    zypper: 'pdns pdns-backend-sqlite3',
    brew: 'pdns',
  },
} satisfies Record<string, Partial<Record<Manager, string>>>;
export type Program = keyof typeof packages;

/** What Go installs if there is no package. */
const modules: Partial<Record<Program, string>> = { pebble: 'github.com/letsencrypt/pebble/v2/cmd/pebble@latest' };

/** Whether the program is on PATH. */
export const isInstalled = (program: string) => executableAt(program, []) !== undefined;

/** One line for a shell that installs these programs. Without a known package manager, their names. */
export function installCommand(programs: Program[]): string {
  const manager = (Object.keys(managers) as Manager[]).find((name) => isInstalled(name));
  if (!manager) return `install ${programs.join(' and ')} with your system’s package manager`;
  const packageOf = (program: Program) => (packages[program] as Partial<Record<Manager, string>>)[manager];
  const built = programs.flatMap((program) => (packageOf(program) ? [] : (modules[program] ?? [])));
  const needed = [...programs, ...(built.length > 0 && !isInstalled('go') ? (['go'] as const) : [])];
  const names = needed.flatMap((program) => packageOf(program) ?? []);
  const install = names.length > 0 ? [`${elevation(manager)}${managers[manager]} ${names.join(' ')}`] : [];
  return [...install, ...built.map((module) => `go install ${module}`)].join(' && ');
}

function elevation(manager: Manager): string {
  if (process.getuid?.() === 0 || manager === 'brew') return '';
  return isInstalled('sudo') ? 'sudo ' : '(as root) ';
}
