/**
 * Finds and follows redirect rules and rewrites. Pure. Exact rules take one lookup; rules that end in `/*` take one walk
 * down the folders of the path. The most specific rule of a list wins, wherever it is in the list.
 */
import { isEvasive } from './paths.ts';
import { placeholderName, placeholdersOf } from './placeholders.ts';

export const redirectStatuses = [301, 302, 307, 308, 410] as const;
/** Of a rewrite: the file at the target is the response, unless there is a file at the path itself. */
export const rewriteStatus = 200;
export type RedirectStatus = (typeof redirectStatuses)[number] | typeof rewriteStatus;

/**
 * `from` may end in `/*`; `:splat` in `to` is replaced by the part that matched it. A segment `:name` of `from` matches
 * one segment, which replaces `:name` in `to`. A 410 has no target.
 */
export type RedirectRule = { from: string; to?: string | undefined; status: RedirectStatus };

/** A matching rule, and the decoded parts that its `*` (`splat`) and its placeholders matched. */
export type Match = { rule: RedirectRule; parts: ReadonlyMap<string, string> };

export type RedirectTable = {
  /** The rule for a decoded path without its leading slash. A trailing slash makes no difference. */
  find(path: string): Match | undefined;
  /** Approximate bytes of memory. */
  weight: number;
};

type Folder = {
  /** The rule that ends in `/*` here. */
  open?: RedirectRule;
  /** The rule with placeholders that ends here. */
  closed?: RedirectRule;
  children: Map<string, Folder>;
  /** Below a placeholder. */
  any?: Folder;
};

/** The path of `from`, decoded and without its leading slash, and whether it ends in `/*`. Throws URIError. */
export function readFrom(from: string): { path: string; splat: boolean } {
  const splat = from.endsWith('/*');
  const sent = (splat ? from.slice(0, -2) : from).replace(/^\//, '');
  return { path: withoutSlash(decodeURIComponent(sent)), splat };
}

export function createRedirectTable(rules: readonly RedirectRule[]): RedirectTable {
  const exact = new Map<string, RedirectRule>();
  const root: Folder = { children: new Map() };
  for (const rule of rules) {
    const { path, splat } = readFrom(rule.from);
    if (splat) folderAt(root, path).open = rule;
    else if (placeholdersOf(path).length > 0) folderAt(root, path).closed = rule;
    else exact.set(path, rule);
  }
  return {
    weight: rules.length * weightPerRule + countFolders(root) * weightPerFolder,
    find(path) {
      const wanted = withoutSlash(path);
      const rule = exact.get(wanted);
      if (rule) return { rule, parts: new Map() };
      const segments = wanted === '' ? [] : wanted.split('/', depthMax);
      const found = mostSpecific(root, segments, 0);
      return found && { rule: found.rule, parts: partsOf(found.rule, path) };
    },
  };
}

// No rule has more segments (`redirects/rules.ts`).
const depthMax = 1_024;
// About the size of a parsed rule, and of a folder with its map.
const weightPerRule = 600;
const weightPerFolder = 300;

/** This folder and all below it. */
function countFolders({ children, any }: Folder): number {
  return [...children.values(), any].reduce((sum, next) => sum + (next ? countFolders(next) : 0), 1);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function folderAt(root: Folder, path: string): Folder {
  let folder = root;
  for (const name of path === '' ? [] : path.split('/')) {
    const isAny = placeholdersOf(name).length > 0;
    const next: Folder = (isAny ? folder.any : folder.children.get(name)) ?? { children: new Map() };
    if (isAny) folder.any = next;
    else folder.children.set(name, next);
    folder = next;
  }
  return folder;
}

type Candidate = { rule: RedirectRule; depth: number; isClosed: boolean };

/**
 * A rule for the whole path, else the one of the deepest folder. A name precedes a placeholder. Visits each folder at
 * most once, and only those of rules with placeholders besides one way down.
 */
function mostSpecific(folder: Folder, segments: readonly string[], depth: number): Candidate | undefined {
  const name = segments[depth];
  if (name === undefined) {
    if (folder.closed) return { rule: folder.closed, depth, isClosed: true };
    return folder.open && { rule: folder.open, depth, isClosed: false };
  }
  let best = folder.open && { rule: folder.open, depth, isClosed: false };
  for (const next of [folder.children.get(name), name === '' ? undefined : folder.any]) {
    const found = next && mostSpecific(next, segments, depth + 1);
    if (found?.isClosed) return found;
    if (found && (!best || found.depth > best.depth)) best = found;
  }
  return best;
}

function partsOf({ from }: RedirectRule, path: string): Map<string, string> {
  const { path: pattern, splat } = readFrom(from);
  const wanted = pattern === '' ? [] : pattern.split('/');
  const segments = path.split('/');
  const parts = new Map(
    wanted.flatMap((name, index) => placeholdersOf(name).map((found) => [found, segments[index] ?? ''] as const)),
  );
  return splat ? parts.set('splat', segments.slice(wanted.length).join('/')) : parts;
}

/** The first list with a matching rule decides. */
export function findRedirect(tables: readonly (RedirectTable | undefined)[], path: string): Match | undefined {
  for (const table of tables) {
    const match = table?.find(path);
    if (match) return match;
  }
  return undefined;
}

/**
 * The target of a match: an absolute URL, or a path of the site that begins with exactly one slash, so that nothing in
 * a request can lead to another host. `query` is the request's own, with its `?`; it is added to the rule's. Undefined
 * for a 410 and for a rewrite.
 */
export function locationOf(match: Match, query = ''): string | undefined {
  const { to, status } = match.rule;
  if (to === undefined || status === 410 || status === rewriteStatus) return undefined;
  const [, path = '', ownQuery = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(to) ?? [];
  const filled = fill(path, match, (value) => value.split('/').map(encodeURIComponent).join('/'));
  const place = to.startsWith('/') ? filled.replace(/^\/+/, '/') : filled;
  const asked = fill(ownQuery, match, encodeURIComponent);
  const kept = query.length > 1 ? (asked ? `${asked}&${query.slice(1)}` : query) : asked;
  return place + kept + fragment;
}

function fill(text: string, { parts }: Match, encode: (value: string) => string): string {
  if (parts.size === 0) return text;
  return text.replace(placeholderName, (written, name: string) => {
    const value = parts.get(name);
    return value === undefined ? written : encode(value);
  });
}

/** The decoded path of the file that a rewrite serves, without its leading slash. Undefined for other rules. */
export function rewriteOf(match: Match): string | undefined {
  const { to, status } = match.rule;
  if (to === undefined || status !== rewriteStatus) return undefined;
  const path = fill(decodeURIComponent(to), match, (value) => value).replace(/^\/+/, '');
  return isEvasive(path) ? undefined : path;
}

/** Whether the path belongs to certificate authorities, which the platform answers itself (RFC 8555 section 8.3). */
export function isChallenge(path: string): boolean {
  return /^\.well-known\/acme-challenge(\/|$)/i.test(path);
}

/** Browsers give up after 20 redirects (the Fetch standard, HTTP-redirect fetch). */
export const hopsMax = 20;

/** Whether redirects from the path end. `origin`, if known, is the site's own: redirects to it stay on the site. */
export function terminates(tables: readonly (RedirectTable | undefined)[], path: string, origin?: string): boolean {
  let at: string | undefined = path;
  for (let hops = 0; hops <= hopsMax; hops++) {
    const match = findRedirect(tables, at);
    const location = match && locationOf(match);
    at = location === undefined ? undefined : ownPath(location, origin);
    if (at === undefined) return true;
  }
  return false;
}

/** The decoded path if the location is on the site; undefined for any other. */
function ownPath(location: string, origin: string | undefined): string | undefined {
  const isOwn = origin !== undefined && (location === origin || /^[/?#]/.test(location.slice(origin.length)));
  const local = isOwn && location.startsWith(origin) ? location.slice(origin.length) || '/' : location;
  if (!local.startsWith('/')) return undefined;
  try {
    return decodeURIComponent((/^\/([^?#]*)/.exec(local)?.[1] ?? '') as string);
  } catch {
    return undefined;
  }
}
