/** The names in an archive: which become paths of the site, which are left out, and which refuse the archive. Pure. */
import { servedPathError } from '#api/output/paths.ts';
import { outputFault } from '#providers/paths.ts';
import { invalidEntry } from './entries.ts';

/** Files that operating systems add to folders. */
const leftOut = /^(?:\.ds_store|thumbs\.db|desktop\.ini)$/i;
const leftOutFolder = '__MACOSX';

export type ArchiveNames = {
  /** The path of a file; undefined if it is left out. Throws `invalid_manifest`. */
  accept(name: string): string | undefined;
  /** Throws `invalid_manifest` for a folder that no file could be in. */
  checkFolder(name: string): void;
  /** The paths that were left out. */
  leftOut: string[];
};

export function createArchiveNames(): ArchiveNames {
  const seen = new Map<string, string>();
  const skipped: string[] = [];
  return {
    leftOut: skipped,
    checkFolder(name) {
      const path = plainName(name).replace(/\/$/, '');
      if (path !== '' && path !== '.') requirePlain(name, path);
    },
    accept(name) {
      const path = plainName(name);
      requirePlain(name, path);
      const segments = path.split('/');
      if (segments.includes(leftOutFolder) || leftOut.test(segments.at(-1) ?? '')) {
        skipped.push(path);
        return undefined;
      }
      const error = servedPathError(path);
      if (error) throw invalidEntry('', error.message.replace(/\.$/, ''));
      const key = path.normalize('NFC').toLowerCase();
      const earlier = seen.get(key);
      if (earlier === path) throw invalidEntry(path, 'is in the archive twice');
      if (earlier !== undefined)
        throw invalidEntry(path, `differs from ${earlier} only in case or in the form of Unicode`);
      seen.set(key, path);
      return path;
    },
  };
}

/** `tar -C folder .` writes `./` before each name. */
function plainName(name: string): string {
  return name.replace(/^(?:\.\/)+/, '');
}

function requirePlain(name: string, path: string): void {
  if (path.startsWith('/')) throw invalidEntry(name, 'has an absolute path');
  const fault = outputFault(path);
  if (fault) throw invalidEntry(name, fault.what);
}
