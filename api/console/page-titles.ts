/** The titles of pages of a version, as its visitors see them. */
import { Parser } from 'htmlparser2';
import type { Deployment } from '#db/deployments/deployment.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Deps } from '#runtime/deps.ts';
import { short } from '#web/console/parts.ts';

/** Larger pages are named by their path. */
const bytesMax = 256 * 1024;
const lettersMax = 80;

/** By path. A page that is not part of the version, or has no title, is left out. */
export async function pageTitles(
  deps: Deps,
  version: Deployment | null,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const titles = new Map<string, string>();
  const manifest = version?.manifestSha256 && (await deps.store.readAll(version.manifestSha256));
  const files = new Map((manifest ? parseManifest(manifest) : []).map((file) => [file.path, file]));
  for (const path of new Set(paths)) {
    const found = filesOf(path).flatMap((name) => files.get(name) ?? [])[0];
    if (!found || found.bytes > bytesMax) continue;
    const page = await deps.store.readAll(found.sha256);
    const title = short(titleIn(page?.toString() ?? ''), lettersMax);
    if (title !== '') titles.set(path, title);
  }
  return titles;
}

/** The files that the edge serves at the path, the first of them that exists. */
function filesOf(path: string): string[] {
  const page = decoded(path).replace(/\/$/, '');
  return page === '' ? ['index.html'] : [page, `${page}.html`, `${page}/index.html`];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return '\0';
  }
}

function titleIn(page: string): string {
  let [title, isInside, isRead] = ['', false, false];
  const parser = new Parser({
    // The title of a picture is not that of the page.
    onopentagname: (name) => {
      isInside = name === 'title' && !isRead;
      isRead ||= name === 'title' || name === 'body';
    },
    ontext: (text) => {
      if (isInside) title += text;
    },
    onclosetag: () => {
      isInside = false;
    },
  });
  parser.end(page);
  return title;
}
