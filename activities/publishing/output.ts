/** Stores the output of a build: several files at a time, and only those that the live version lacks. */
import { buffer } from 'node:stream/consumers';
import type { Output } from '#db/deployments/deployment.ts';
import type { Site } from '#db/sites/site.ts';
import { liveDeploymentOf } from '#db/sites/transitions.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { isCompressible } from '#providers/media-types.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import type { Store } from '#providers/store/store.ts';
import { wholeFiles } from '#providers/store/whole-files.ts';
import type { BuilderDeps } from './deps.ts';

/** Larger files are streamed to the store, one after another. */
const atOnceBytesMax = 4 * 1_048_576;
const atOnceMax = 8;

export type HeldFiles = ReadonlyMap<string, ManifestFile>;

/**
 * Files of the live version, by hash, which the build need not send again. Only of this site, so that no site can obtain another's bytes by
 * claiming their hash. Only files that the store has in full, so that a publish restores lost files.
 */
export async function heldFiles({ em, store }: BuilderDeps, site: Pick<Site, 'liveDeploymentId'>): Promise<HeldFiles> {
  const live = await liveDeploymentOf(em(), site);
  const manifest = live?.manifestSha256 ? await readManifest(store, live.manifestSha256) : undefined;
  return new Map(manifest?.stored.map((file) => [file.sha256, file]));
}

/** Whether the store has every file of the output in full. */
export async function isStored(store: Store, { manifestSha256 }: Output): Promise<boolean> {
  const manifest = await readManifest(store, manifestSha256);
  return manifest !== undefined && manifest.stored.length === manifest.files.length;
}

/** All files of a manifest, and those that the store has in full; undefined if it lacks the manifest. */
async function readManifest(store: Store, manifestSha256: string) {
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) return undefined;
  const files = parseManifest(manifest);
  return { files, stored: await wholeFiles(store, files) };
}

/** Stores the files of one build. `all` resolves when the last is stored. */
export function createOutputStorer(store: Store, held: Promise<HeldFiles>) {
  const stored: Promise<ManifestFile>[] = [];
  const storing = new Set<Promise<ManifestFile>>();

  function put(path: string, content: Parameters<Store['put']>[0]): Promise<ManifestFile> {
    const putting = store.put(content, { compress: isCompressible(path) }).then(({ sha256, bytes, encodings }) => {
      const variants = encodings.filter((encoding) => encoding !== 'identity');
      return { path, sha256, bytes, ...(variants.length ? { encodings: variants } : {}) };
    });
    const done = () => void storing.delete(putting);
    putting.then(done, done);
    storing.add(putting);
    stored.push(putting);
    return putting;
  }

  const onFile: BuildRequest['onFile'] = async ({ path, bytes, content }) => {
    if (bytes > atOnceBytesMax) await put(path, content);
    else void put(path, await buffer(content)); // `all` awaits it.
    if (storing.size >= atOnceMax) await Promise.race(storing);
  };
  const onHeld: BuildRequest['onHeld'] = ({ path, sha256 }) => {
    const known = held.then((files) => ({ ...fileOf(files, sha256), path }));
    known.catch(() => {}); // Awaited in `all`.
    stored.push(known);
  };
  return { onFile, onHeld, all: () => Promise.all(stored) };
}

function fileOf(files: HeldFiles, sha256: string): ManifestFile {
  const file = files.get(sha256);
  if (!file) throw new Error('the sandbox referred to an unknown file');
  return file;
}
