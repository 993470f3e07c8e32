/** The titles of pages of a version, as its visitors see them. */
import { Parser } from 'htmlparser2';
import type { Deployment } from '#db/deployments/deployment.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { decodedPath, findFile } from '#providers/manifest-paths.ts';
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
    const found = fileAt(files, path);
    if (!found || found.bytes > bytesMax) continue;
    const page = await deps.store.readAll(found.sha256);
    const title = short(titleIn(page?.toString() ?? ''), lettersMax);
    if (title !== '') titles.set(path, title);
  }
  return titles;
}

/** The file that the edge serves at the path, also after a redirect to its own address. */
function fileAt(files: ReadonlyMap<string, ManifestFile>, sent: string): ManifestFile | undefined {
  const path = decodedPath(sent);
  const found = path === undefined ? undefined : findFile(files, path);
  const page = found && 'redirectTo' in found ? findFile(files, found.redirectTo) : found;
  return page && 'file' in page ? page.file : undefined;
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
