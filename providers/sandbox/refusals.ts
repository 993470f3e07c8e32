/** Why a kind of sandbox does not work on this machine, and what to do about it. */
import type { Machine } from './machine.ts';
import type { SandboxKind } from './sandbox.ts';

export type SandboxRefusal = {
  kind: SandboxKind;
  /** One sentence. */
  reason: string;
  /** One sentence with the remedy for this system, or nothing if there is none. */
  remedy: string;
  /** What the remedy is to install, for commands of this system’s package manager. */
  program?: 'bubblewrap' | 'docker';
};

/** None of the sandboxes that may be used works. The message says why. */
export class NoSandbox extends Error {
  readonly refusals: readonly SandboxRefusal[];

  constructor(refusals: readonly SandboxRefusal[], cause?: unknown) {
    super(describeRefusals(refusals), { cause });
    this.refusals = refusals;
  }
}

/** The refusals as one text. A sentence that several have in common is said once. */
export function describeRefusals(refusals: readonly SandboxRefusal[]): string {
  return [...new Set(refusals.flatMap(({ reason, remedy }) => [reason, remedy]))].filter(Boolean).join(' ');
}

type Explanation = Omit<SandboxRefusal, 'kind'>;

/** Explains a failure from what is known of the machine; `detail` is the program's own words. */
export function explainRefusal(kind: SandboxKind, machine: Machine, detail: string): SandboxRefusal {
  if (kind === 'docker') return { kind, ...explainEngine(machine, detail) };
  if (kind === 'seatbelt') {
    return machine.platform === 'darwin'
      ? { kind, reason: `macOS’s sandbox-exec does not work here: ${firstLine(detail)}.`, remedy: '' }
      : { kind, reason: 'seatbelt is a sandbox of macOS.', remedy: '' };
  }
  if (machine.platform !== 'linux') return { kind, reason: `${nameOf(kind)} requires Linux.`, remedy: '' };
  const missing = programsOf(kind).filter((program) => machine.missing.includes(program));
  if (missing.length > 0) return { kind, ...explainMissing(missing) };
  return { kind, ...(explainFolder(machine) ?? explainNamespaces(machine) ?? explainOther(kind, detail)) };
}

function explainEngine(machine: Machine, detail: string): Explanation {
  if (!/^No container engine is responding/.test(detail)) {
    const remedy = /is closed to your user$/.test(detail)
      ? 'Add your user to the group docker, and sign in again.'
      : '';
    return { reason: `The container engine does not work: ${firstLine(detail)}.`, remedy };
  }
  const reason = 'No container engine is responding.';
  const remedy =
    machine.platform === 'darwin' ? 'Start Docker Desktop, OrbStack or Colima.' : 'Install and start Docker.';
  return { reason, remedy, program: 'docker' };
}

function explainMissing(missing: string[]): Explanation {
  if (missing.includes('bwrap'))
    return { reason: 'bubblewrap is not installed.', remedy: 'Install bubblewrap.', program: 'bubblewrap' };
  const are = missing.length === 1 ? 'is' : 'are';
  return { reason: `${missing.join(', ')} of util-linux ${are} not installed.`, remedy: 'Install util-linux.' };
}

/** What keeps both bubblewrap and util-linux from making namespaces. */
function explainNamespaces(machine: Machine): Explanation | undefined {
  const asRoot = machine.isRoot ? '' : 'sudo ';
  const set = (setting: string) => `To permit them: ${asRoot}sysctl -w ${setting}.`;
  if (machine.isWsl1)
    return { reason: 'WSL 1 has no namespaces.', remedy: 'In Windows: wsl --set-version <distribution> 2.' };
  if (machine.isContainer) {
    return {
      reason: 'This container may not create namespaces.',
      remedy: 'Give it the socket of a container engine, or run Frontage outside of it.',
    };
  }
  if (machine.userNamespacesMax === 0)
    return { reason: 'The kernel’s limit of user namespaces is 0.', remedy: set('user.max_user_namespaces=15000') };
  if (!machine.unprivilegedNamespaces)
    return {
      reason: 'The kernel gives user namespaces to root only.',
      remedy: set('kernel.unprivileged_userns_clone=1'),
    };
  if (machine.isAppArmorRestricting) {
    return {
      reason: 'AppArmor gives user namespaces only to programs with a profile.',
      remedy: set('kernel.apparmor_restrict_unprivileged_userns=0'),
    };
  }
  return undefined;
}

function explainFolder({ unreadable }: Machine): Explanation | undefined {
  if (!unreadable) return undefined;
  return {
    reason: `User 10001, who builds, may not enter ${unreadable}.`,
    remedy: `To permit it: chmod a+x ${unreadable}.`,
  };
}

function explainOther(kind: SandboxKind, detail: string): Explanation {
  return { reason: `${nameOf(kind)} does not work here: ${firstLine(detail)}.`, remedy: '' };
}

function programsOf(kind: SandboxKind): string[] {
  return kind === 'bubblewrap' ? ['bwrap', 'prlimit', 'setpriv'] : [...namespacePrograms];
}

/** The programs of util-linux that the kind `namespaces` uses. */
export const namespacePrograms = ['unshare', 'setpriv', 'prlimit', 'setsid', 'mount', 'umount', 'pivot_root'] as const;

function nameOf(kind: SandboxKind): string {
  return kind === 'bubblewrap' ? 'bubblewrap' : 'Making namespaces';
}

function firstLine(detail: string): string {
  const line = detail.split('\n').find((text) => text.trim() !== '') ?? 'no reason was given';
  return line.trim().slice(0, 200).replace(/\.$/, '');
}
