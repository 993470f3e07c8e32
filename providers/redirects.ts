/**
 * Finds and follows redirect rules. Pure. Exact rules take one lookup; rules that end in `/*` take one walk down the
 * folders of the path. The most specific rule of a list wins, wherever it is in the list.
 */

export const redirectStatuses = [301, 302, 307, 308, 410] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];

/** `from` may end in `/*`; `:splat` in `to` is replaced by the part that matched it. A 410 has no target. */
export type RedirectRule = { from: string; to?: string | undefined; status: RedirectStatus };

/** A matching rule, and the decoded part that its `*` matched. */
export type Match = { rule: RedirectRule; splat: string };

export type RedirectTable = {
  /** The rule for a decoded path without its leading slash. A trailing slash makes no difference. */
  find(path: string): Match | undefined;
  size: number;
};

type Folder = { rule?: RedirectRule; children: Map<string, Folder> };

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
    if (splat) folderAt(root, path).rule = rule;
    else exact.set(path, rule);
  }
  return {
    size: rules.length,
    find(path) {
      const rule = exact.get(withoutSlash(path));
      return rule ? { rule, splat: '' } : longest(root, path);
    },
  };
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function folderAt(root: Folder, path: string): Folder {
  let folder = root;
  for (const name of path === '' ? [] : path.split('/')) {
    const next: Folder = folder.children.get(name) ?? { children: new Map() };
    folder.children.set(name, next);
    folder = next;
  }
  return folder;
}

/** The rule of the deepest folder on the path that has one. */
function longest(root: Folder, path: string): Match | undefined {
  let folder = root;
  let found: Match | undefined = root.rule && { rule: root.rule, splat: path };
  for (let at = 0; at <= path.length; ) {
    const slash = path.indexOf('/', at);
    const end = slash === -1 ? path.length : slash;
    const next = folder.children.get(path.slice(at, end));
    if (!next) break;
    folder = next;
    at = end + 1;
    if (folder.rule) found = { rule: folder.rule, splat: path.slice(at) };
  }
  return found;
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
 * for 410.
 */
export function locationOf({ rule, splat }: Match, query = ''): string | undefined {
  if (rule.to === undefined || rule.status === 410) return undefined;
  const [, path = '', ownQuery = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rule.to) ?? [];
  // A function, because the replacement may contain `$&`.
  const filled = path.replaceAll(':splat', () => splat.split('/').map(encodeURIComponent).join('/'));
  const place = rule.to.startsWith('/') ? filled.replace(/^\/+/, '/') : filled;
  const asked = ownQuery.replaceAll(':splat', () => encodeURIComponent(splat));
  const kept = query.length > 1 ? (asked ? `${asked}&${query.slice(1)}` : query) : asked;
  return place + kept + fragment;
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
