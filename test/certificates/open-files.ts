/** The open files of this process in a folder: an aborted response leaves none. */
import { readdirSync, readlinkSync } from 'node:fs';

export function openFilesOf(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const to = target(fd);
    return to?.startsWith(folder) ? [to] : [];
  });
}

function target(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
