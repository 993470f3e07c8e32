/** Photos of a published version that say where they were taken. Their bytes are untrusted data, and reading is bounded. */
import { isLocated } from '#git/rules/photos.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { printable } from '#providers/paths.ts';
import type { Store } from '#providers/store/store.ts';

const names = /\.(jpe?g|png|webp|avif)$/i;
const bytesMax = 96 * 1024 * 1024;
const shownMax = 5;

export type Located = { paths: string[]; isComplete: boolean };

/** Reads photos in the manifest's order until time or bytes run out. */
export async function findLocated(
  store: Pick<Store, 'read'>,
  files: readonly ManifestFile[],
  until: number,
): Promise<Located> {
  const paths: string[] = [];
  let bytes = 0;
  for (const file of files.filter(({ path }) => names.test(path))) {
    bytes += file.bytes;
    if (bytes > bytesMax) break;
    if (performance.now() > until) return { paths, isComplete: false };
    if (await isLocated(() => contentOf(store, file.sha256))) paths.push(file.path);
  }
  return { paths, isComplete: true };
}

async function* contentOf(store: Pick<Store, 'read'>, sha256: string): AsyncGenerator<Buffer> {
  yield* ((await store.read(sha256)) ?? []) as AsyncIterable<Buffer>;
}

/** One warning for all of them. */
export function locatedMessage(paths: readonly string[]): string {
  const shown = paths.slice(0, shownMax).map(printable).join(', ');
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : '';
  const [say, were] = paths.length === 1 ? ['photo says', 'it was'] : ['photos say', 'they were'];
  return (
    `${paths.length} ${say} where ${were} taken, to everyone who opens the file: ${shown}${more}. ` +
    'Remove the location in an image editor. Photos added with PUT, a commit by a call or an upload link lose it by themselves.'
  );
}
