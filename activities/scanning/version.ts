/** Scans the new files of a version, one after another, within bounds. */

import { createHash } from 'node:crypto';
import type { Found } from '#db/scanning/transitions.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { describeExternalTargets } from '#providers/redirects/external-targets.ts';
import { parseRedirectsFile, redirectsFile } from '#providers/redirects/file.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';
import { minuteMs } from '#rules/time.ts';
import { isPage, isScript, isXml, ScanTimeout, scanScript, withTimeLimit } from './files.ts';
import { type Finding, findInPage, findInScript, printableExcerpt, type SiteOrigin } from './findings.ts';
import { scanPage } from './page.ts';
import { noScript, type ScriptFacts } from './scripts.ts';

type Reads = Pick<Store, 'read' | 'readAll'>;

/** The limit for one version; files beyond it are flagged as unread. */
const bytesMax = 512 * 1024 * 1024;
const versionMs = 10 * minuteMs;
const fileMs = 60_000;
const pathMax = 400;
const ownScriptsMax = 50;

type ScanInput = {
  files: readonly ManifestFile[];
  /** `keyOf` of the files of each version that was completely scanned before. */
  earlier: readonly ReadonlySet<string>[];
  place: SiteOrigin;
  /** Called at least once for each 64 KiB; an error from it ends the scan. */
  beat: () => void;
  /** Milliseconds of a monotonic clock. */
  elapsed?: () => number;
};

/** Identifies a scanned file by its bytes and path: at another path, a page refers to other scripts. */
export const keyOf = ({ sha256, path }: ManifestFile): string => `${sha256} ${path}`;

/** `whole`: every file was scanned. Otherwise `found` names what is missing. */
export async function scanVersion(store: Reads, version: ScanInput) {
  const { beat, elapsed = () => performance.now() } = version;
  const scanFile = createFileScanner(store, version, elapsed);
  const found: Found[] = [];
  const end = elapsed() + versionMs;
  let [bytes, read, whole] = [0, 0, true];
  for (const file of filesToScan(version)) {
    beat();
    bytes += file.bytes;
    const add = (finding: Finding) => found.push({ path: printablePath(file.path), sha256: file.sha256, ...finding });
    if (bytes > bytesMax || elapsed() > end) {
      add({
        kind: 'unread',
        excerpt: 'not scanned: the version is too large for one scan, so this and other files were skipped',
      });
      whole = false;
      break;
    }
    const findings = await scanFile(file).catch((error: unknown) => {
      if (error instanceof ScanTimeout) return [tooLong];
      throw error;
    });
    for (const finding of findings ?? [missing]) add(finding);
    if (!findings || findings[0] === tooLong) whole = false;
    else read += 1;
  }
  return { found, read, whole };
}

const tooLong: Finding = { kind: 'unread', excerpt: 'took too long to scan' };
const missing: Finding = { kind: 'unread', excerpt: 'its contents are missing from the store' };

/**
 * Returns a function that scans one file of the version: its findings, or undefined if its bytes are missing. It reads a
 * script only once.
 */
function createFileScanner(store: Reads, { files, place, beat }: ScanInput, elapsed: () => number) {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const scripts = new Map<string, ScriptFacts | undefined>();

  async function scriptOf({ sha256 }: ManifestFile, beat: () => void): Promise<ScriptFacts | undefined> {
    if (scripts.has(sha256)) return scripts.get(sha256);
    const content = await store.read(sha256);
    const facts = content && (await scanScript(content, beat));
    scripts.set(sha256, facts);
    return facts;
  }

  return async (file: ManifestFile): Promise<Finding[] | undefined> => {
    const address = new URL(encodeURI(file.path.toWellFormed()).replace(/^\/*/, '/'), place.address);
    const at = { ...place, address };
    const beats = withTimeLimit(fileMs, elapsed, beat);
    if (file.path === redirectsFile) return await findInRedirects(store, file, place);
    if (!isScript(file.path)) {
      return await scanPageFile(store, file, { at, byPath, beat: beats, scriptOf: (one) => scriptOf(one, beats) });
    }
    const facts = await scriptOf(file, beats);
    return facts && findInScript(facts, at);
  };
}

/** New files first, then known pages if scripts have changed, because a page is judged together with its scripts. */
function filesToScan({ files, earlier }: ScanInput): ManifestFile[] {
  const known = (of: readonly ReadonlySet<string>[], file: ManifestFile) => of.some((keys) => keys.has(keyOf(file)));
  const rules = files.filter(({ path }) => path === redirectsFile);
  const scripts = files.filter(({ path }) => isScript(path));
  const pages = files.filter(({ path }) => isPage(path));
  const sameScripts = earlier.filter((keys) => scripts.every((file) => keys.has(keyOf(file))));
  const changed = [...rules, ...pages, ...scripts].filter((file) => !known(earlier, file));
  return [...changed, ...pages.filter((file) => known(earlier, file) && !known(sameScripts, file))];
}

/** A printable path. A hash distinguishes two paths that print the same. */
function printablePath(path: string): string {
  const shown = printableExcerpt(path, pathMax);
  if (shown === path) return path;
  return `${shown}…${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;
}

/** Findings in the redirect rules of a version. Invalid rules are ignored, as edges do. */
async function findInRedirects(
  store: Reads,
  { sha256 }: ManifestFile,
  place: SiteOrigin,
): Promise<Finding[] | undefined> {
  const content = await store.readAll(sha256);
  if (!content) return undefined;
  const away = describeExternalTargets(rulesIn(content), place);
  return away === undefined ? [] : [{ kind: 'redirect', excerpt: printableExcerpt(away) }];
}

function rulesIn(content: Buffer): RedirectRule[] {
  try {
    return parseRedirectsFile(content, '');
  } catch {
    return [];
  }
}

type PageScan = {
  at: SiteOrigin;
  byPath: ReadonlyMap<string, ManifestFile>;
  beat: () => void;
  scriptOf: (file: ManifestFile) => Promise<ScriptFacts | undefined>;
};

/** Scans a page; one with a password field together with its own scripts. Undefined if its bytes are missing. */
async function scanPageFile(store: Pick<Store, 'read'>, file: ManifestFile, { at, byPath, beat, scriptOf }: PageScan) {
  const content = await store.read(file.sha256);
  if (!content) return undefined;
  const page = await scanPage(content, { beat, isXml: isXml(file.path) });
  const own: ScriptFacts[] = [];
  if (page.hasPassword && page.scripts.length > ownScriptsMax) page.whole = false;
  for (const address of page.hasPassword ? page.scripts.slice(0, ownScriptsMax) : []) {
    const target = URL.parse(address, at.address.href);
    const script = target && at.hosts.has(target.hostname) && byPath.get(decoded(target.pathname.slice(1)));
    if (script) own.push((await scriptOf(script)) ?? noScript());
  }
  return findInPage(page, own, at);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
