/** The files of a version that have to be read, one after the other, within a bound. */
import type { Found } from '../../db/flags.ts';
import type { ManifestFile } from '../../providers/manifest.ts';
import type { Store } from '../../providers/store/store.ts';
import { judgePage, judgeScript, type Place, printed } from './judging.ts';
import { scanPage } from './page.ts';
import { noScript, overlap, pieceMax, readScript, type ScriptFacts } from './scripts.ts';

/** All that is read of one version; what is beyond is said to be unread. */
const bytesMax = 512 * 1024 * 1024;
const pathMax = 400;
const ownScriptsMax = 20;

const isPage = (path: string) => /\.(?:html?|xhtml|svg)$/i.test(path);
const isScript = (path: string) => /\.[cm]?js$/i.test(path);

type Version = {
  files: readonly ManifestFile[];
  /** Hashes of files that were scanned before. */
  known: ReadonlySet<string>;
  place: Place;
  beat: () => void;
};

export async function scanVersion(store: Pick<Store, 'read'>, { files, known, place, beat }: Version) {
  const changed = files.filter(({ path, sha256 }) => !known.has(sha256) && (isPage(path) || isScript(path)));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const scripts = new Map<string, ScriptFacts>();
  const found: Found[] = [];
  let bytes = 0;
  let read = 0;

  async function scriptOf({ sha256 }: ManifestFile): Promise<ScriptFacts> {
    const facts = scripts.get(sha256) ?? (await scanScript(await store.read(sha256)));
    scripts.set(sha256, facts);
    return facts;
  }

  for (const file of changed) {
    beat();
    bytes += file.bytes;
    const path = printed(file.path).slice(0, pathMax);
    if (bytes > bytesMax) {
      found.push({
        path,
        sha256: file.sha256,
        kind: 'unread',
        excerpt: 'more was published at once than a scan reads',
      });
      break;
    }
    const at = { ...place, address: new URL(encodeURI(file.path.toWellFormed()).replace(/^\/*/, '/'), place.address) };
    const findings = isScript(file.path)
      ? judgeScript(await scriptOf(file), at)
      : await judgeOf(store, file, { at, byPath, scriptOf });
    for (const finding of findings) found.push({ path, sha256: file.sha256, ...finding });
    read += 1;
  }
  return { found, read };
}

type Around = {
  at: Place;
  byPath: ReadonlyMap<string, ManifestFile>;
  scriptOf: (file: ManifestFile) => Promise<ScriptFacts>;
};

/** A page with a password field is judged together with the scripts of the site that it names. */
async function judgeOf(store: Pick<Store, 'read'>, file: ManifestFile, { at, byPath, scriptOf }: Around) {
  const content = await store.read(file.sha256);
  if (!content) return [];
  const page = await scanPage(content);
  const own: ScriptFacts[] = [];
  for (const address of page.hasPassword ? page.scripts.slice(0, ownScriptsMax) : []) {
    const target = URL.parse(address, at.address.href);
    const script = target && at.hosts.has(target.hostname) && byPath.get(decoded(target.pathname.slice(1)));
    if (script) own.push(await scriptOf(script));
  }
  return judgePage(page, own, at);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function scanScript(content: AsyncIterable<Buffer> | undefined): Promise<ScriptFacts> {
  const facts = noScript();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of content ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length < pieceMax) continue;
    readScript(facts, text);
    text = text.slice(-overlap);
  }
  readScript(facts, text);
  return facts;
}
