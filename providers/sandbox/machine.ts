/** What decides which sandboxes work on this machine. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { findClosed, openWay, succeeds, toolsEnv } from './process-sandbox.ts';
import { namespacePrograms } from './refusals.ts';

export type Machine = {
  platform: NodeJS.Platform;
  isRoot: boolean;
  isContainer: boolean;
  isWsl1: boolean;
  /** Undefined if the kernel does not say. */
  userNamespacesMax: number | undefined;
  unprivilegedNamespaces: boolean;
  isAppArmorRestricting: boolean;
  /** Programs of the sandboxes that are not installed. */
  missing: string[];
  /** The first folder on the way to the image that the user of builds may not enter, if root cannot open the way. */
  unreadable: string | undefined;
};

/** Reads this machine's facts. None of them is an error if it cannot be read. */
export function readMachine(dataDir: string): Machine {
  const isRoot = process.getuid?.() === 0;
  const kernel = read('/proc/sys/kernel/osrelease');
  const userNamespacesMax = read('/proc/sys/user/max_user_namespaces').trim();
  return {
    platform: process.platform,
    isRoot,
    isContainer:
      ['/.dockerenv', '/run/.containerenv'].some(existsSync) || /(^|\0)container=/.test(read('/proc/1/environ')),
    isWsl1: /microsoft/i.test(kernel) && !/wsl2/i.test(kernel),
    userNamespacesMax: userNamespacesMax === '' ? undefined : Number(userNamespacesMax),
    unprivilegedNamespaces: read('/proc/sys/kernel/unprivileged_userns_clone').trim() !== '0',
    isAppArmorRestricting: read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1',
    missing: ['bwrap', ...namespacePrograms].filter((program) => !isInstalled(program)),
    unreadable: isRoot ? findBarrier(resolve(dataDir, 'sandbox')) : undefined,
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isInstalled(program: string): boolean {
  return toolsEnv.PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function findBarrier(folder: string): string | undefined {
  return succeeds([...openWay(folder), 'true']) ? undefined : findClosed(folder);
}
