/**
 * Finds the header fields that a site sets for a path. Pure. Each rule takes time in proportion to the path: a pattern
 * is compared piece by piece and never tried twice.
 */
import { placeholdersOf } from './placeholders.ts';

/** `path` is a pattern: `/page`, `/folder/*`, `/*.svg` or `/:language/page`. Names are in lower case. */
export type HeaderRule = { path: string; fields: ReadonlyMap<string, string> };

/** The fields of all rules that match a path. Equal sets are one object. */
export type HeaderSet = { id: number; fields: ReadonlyMap<string, string> };

export type HeaderTable = {
  /** The fields for a decoded path without its leading slash; a later rule replaces fields of an earlier one. */
  find(path: string): HeaderSet | undefined;
  /** Approximate bytes of memory. */
  weight: number;
};

// No file has a longer path (`providers/paths.ts`).
const pathLengthMax = 1_024;
const setsMax = 200;

let setsMade = 0;

export function createHeaderTable(rules: readonly HeaderRule[]): HeaderTable {
  const matchers = rules.map(({ path }) => createMatcher(path));
  const sets = new Map<string, HeaderSet>();
  const bytes = rules.reduce((sum, { path, fields }) => sum + path.length + bytesOfFields(fields), 0);
  return {
    // The sets refer to the same strings.
    weight: 4 * bytes + rules.length * 500 + setsMax * 1_000,
    find(path) {
      if (path.length > pathLengthMax) return undefined;
      const matching = rules.filter((_, index) => matchers[index]?.(path));
      if (matching.length === 0) return undefined;
      const key = matching.map((rule) => rules.indexOf(rule)).join();
      const known = sets.get(key);
      if (known) return known;
      if (sets.size >= setsMax) sets.clear();
      setsMade += 1;
      const set = { id: setsMade, fields: new Map(matching.flatMap(({ fields }) => [...fields])) };
      sets.set(key, set);
      return set;
    },
  };
}

export function bytesOfFields(fields: ReadonlyMap<string, string>): number {
  return [...fields].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

type Matcher = (path: string) => boolean;

function createMatcher(pattern: string): Matcher {
  const wanted = decodeURIComponent(pattern.slice(1));
  if (placeholdersOf(wanted).length > 0) return bySegments(wanted);
  if (wanted.includes('*')) return byPieces(wanted);
  const exact = withoutSlash(wanted);
  return (path) => withoutSlash(path) === exact;
}

/** Placeholders, and `/*` at the end. */
function bySegments(pattern: string): Matcher {
  const isOpen = pattern.endsWith('/*');
  const wanted = withoutSlash(isOpen ? pattern.slice(0, -2) : pattern).split('/');
  return (path) => {
    const segments = withoutSlash(path).split('/');
    if (isOpen ? segments.length < wanted.length : segments.length !== wanted.length) return false;
    return wanted.every((name, index) =>
      placeholdersOf(name).length > 0 ? segments[index] !== '' : segments[index] === name,
    );
  };
}

/** Each `*` matches any characters. The first fitting place of a piece leaves the most for the next one. */
function byPieces(pattern: string): Matcher {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  // `/folder/*` is also the folder itself.
  const folder = rest.length === 0 && last === '' && first.endsWith('/') ? first.slice(0, -1) : undefined;
  return (path) => {
    if (path === folder) return true;
    if (!path.startsWith(first)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = path.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return path.length - last.length >= at && path.endsWith(last);
  };
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
