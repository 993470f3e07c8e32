/**
 * What earlier builds of a site left for its next one, kept when a version goes live and never before. It came out of site code, and only
 * builds that execute the same code get it: reverting a commit also gets rid of what that commit left. A publish with `no-cache` does not
 * use it.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Deployment } from '#db/deployments/deployment.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import type { Store } from '#providers/store/store.ts';
import type { BuilderDeps } from './deps.ts';

type CacheDeps = Pick<BuilderDeps, 'em' | 'store'> & { sandbox: Pick<BuilderDeps['sandbox'], 'image'> };
type Cached = Pick<Deployment, 'id' | 'noCache'> & { site: { id: string; cacheEpoch: number } };
type Caches = Pick<BuildRequest, 'cache' | 'cacheFolder' | 'onCache'>;

/** Where the framework keeps the pictures that it has made. */
const picturesFolder = 'astro/assets/';

/** The names of a site's caches for one image of the sandbox: of its versions, and of the drafts in its preview slots. */
export function cacheNames({ site, image }: { site: string; image: string }) {
  return { ofVersions: `${site}.${image}.tar`, ofDrafts: `${site}.drafts.${image}.tar` };
}

/** `executed` is the digest of the snapshot; without one, for a snapshot of an earlier release, there is no cache. */
export async function siteCache(deps: CacheDeps, build: Cached, executed: string | undefined): Promise<Caches> {
  if (executed === undefined) return {};
  const file = keyedFile(deps.store, namesFor(deps, build).ofVersions, build, executed);
  const cache = await file.read();
  return {
    ...(cache ? { cache } : {}),
    async onCache(content) {
      const { status } = await deps.em().findOneOrFail(Deployment, { id: build.id });
      if (status === 'live') await file.put(content);
      else content.destroy();
    },
  };
}

/**
 * The same for a build of a draft: the site's cache, or else the pictures that builds of drafts left. These leave nothing else. The content
 * store may contain text of draft posts in other posts, for example in links between them, and the build without drafts must not find it.
 */
export async function draftCache(deps: CacheDeps, build: Cached, executed: string | undefined): Promise<Caches> {
  if (executed === undefined) return {};
  const file = keyedFile(deps.store, namesFor(deps, build).ofDrafts, build, executed);
  const { cache = await file.read() } = await siteCache(deps, build, executed);
  return { ...(cache ? { cache } : {}), cacheFolder: picturesFolder, onCache: file.put };
}

function namesFor({ sandbox }: CacheDeps, { site }: Cached) {
  return cacheNames({ site: site.id, image: sandbox.image });
}

/** A file begins with its key, so that its key and bytes change together. */
function keyedFile({ caches }: Pick<Store, 'caches'>, name: string, { site, noCache }: Cached, executed: string) {
  const key = createHash('sha256').update(`${site.cacheEpoch} ${executed}`).digest();
  return {
    read: async () => (noCache ? undefined : await withoutKey(await caches.read(name), key)),
    put: (content: Readable) => caches.put(name, Readable.from(after(key, content), { objectMode: false })),
  };
}

/** The rest of a file that begins with the key; undefined if it has another one. */
async function withoutKey(file: Readable | undefined, key: Buffer): Promise<Readable | undefined> {
  if (!file) return undefined;
  const chunks: AsyncIterator<Buffer> = file[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < key.length) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  if (!head.subarray(0, key.length).equals(key)) {
    file.destroy();
    return undefined;
  }
  const rest = Readable.from(after(head.subarray(key.length), { [Symbol.asyncIterator]: () => chunks }), {
    objectMode: false,
  });
  // A stream that is destroyed before its first read does not end its source.
  return rest.once('close', () => file.destroy());
}

async function* after(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}
