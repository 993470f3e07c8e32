/**
 * What earlier builds of a site left for its next one, kept when a version goes live and never before. It came out of site code, and only
 * builds that execute the same code get it: reverting a commit also gets rid of what that commit left. A publish with `no-cache` does not
 * use it.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Deployment } from '#db/deployments/deployment.ts';
import { buildsWithCaches } from '#db/sites/purge.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import type { NamedBytes } from '#providers/store/store.ts';
import type { DeploymentStatus } from '#rules/states.ts';
import { mergeCaches, picturesOf } from './cache-tar.ts';
import type { BuilderDeps } from './deps.ts';

type CacheDeps = Pick<BuilderDeps, 'em' | 'store'> & { sandbox: Pick<BuilderDeps['sandbox'], 'image'> };
type Cached = Pick<Deployment, 'id' | 'noCache' | 'slot'> & { site: { id: string; cacheEpoch: number } };
type Caches = Pick<BuildRequest, 'cache' | 'onCache'>;

/** The name of a site's cache for one image of the sandbox, or of the one of a preview slot. */
export function cacheName({ site, image, slot }: { site: string; image: string; slot?: number | null }): string {
  return slot ? `${site}.slot-${slot}.${image}.tar` : `${site}.${image}.tar`;
}

/** The name, in the scratch space, of the pictures that the first build of a draft leaves for the second. */
export const draftPicturesName = (deploymentId: string) => `${deploymentId}.pictures.tar`;

/** `executed` is the digest of the snapshot; without one, for a snapshot of an earlier release, there is no cache. */
export async function siteCache(deps: CacheDeps, build: Cached, executed: string | undefined): Promise<Caches> {
  if (executed === undefined) return {};
  const { caches } = deps.store;
  const key = keyOf(build, executed);
  const name = cacheName({ site: build.site.id, image: deps.sandbox.image });
  const cache = build.noCache ? undefined : await readKeyed(caches, name, key);
  return {
    ...(cache ? { cache } : {}),
    async onCache(content) {
      if ((await statusOf(deps, build)) === 'live') await putKeyed(caches, name, key, content);
      else content.destroy();
    },
  };
}

/**
 * The cache of a build of a preview slot: that of the site, with the pictures of earlier builds of the slot. They leave only pictures, whose
 * names are hashes of what they show. The content store may contain text of draft posts in other posts, for example in links between them, and
 * the build without drafts must not find it.
 */
export async function draftCache(
  deps: CacheDeps,
  build: Cached,
  executed: string | undefined,
  { isLast }: { isLast: boolean },
): Promise<Caches> {
  if (executed === undefined) return {};
  const { caches, scratch } = deps.store;
  const [site, image] = [build.site.id, deps.sandbox.image];
  const key = keyOf(build, executed);
  const [ofDraft, ofSlot] = [draftPicturesName(build.id), cacheName({ site, image, slot: build.slot ?? null })];
  const pictures = (await readKeyed(scratch, ofDraft, key)) ?? (await readKeyed(caches, ofSlot, key));
  const ofSite = await readKeyed(caches, cacheName({ site, image }), key);
  const found = [pictures, ofSite].filter((one) => one !== undefined);
  return {
    ...(found.length > 0 ? { cache: mergeCaches(found) } : {}),
    async onCache(content) {
      const status = await statusOf(deps, build);
      if (!isLast) await putKeyed(scratch, ofDraft, key, picturesOf(content));
      else if (status === 'ready') await putKeyed(caches, ofSlot, key, picturesOf(content));
      else content.destroy();
    },
  };
}

/** Removes the caches of a site, or those of one of its preview slots. */
export async function removeCaches(
  { em, store }: Omit<CacheDeps, 'sandbox'>,
  siteId: string,
  slot?: number,
): Promise<void> {
  for (const build of await buildsWithCaches(em(), siteId))
    if (slot === undefined || build.slot === slot) await store.caches.remove(cacheName({ ...build, site: siteId }));
}

/** The file begins with its key, so that a site has one file, and its key and bytes change together. */
function keyOf({ site }: Cached, executed: string): Buffer {
  return createHash('sha256').update(`${site.cacheEpoch} ${executed}`).digest();
}

async function statusOf({ em }: CacheDeps, { id }: Cached): Promise<DeploymentStatus> {
  return (await em().findOneOrFail(Deployment, { id })).status;
}

async function putKeyed(files: NamedBytes, name: string, key: Buffer, content: Readable): Promise<void> {
  await files.put(name, Readable.from(after(key, content), { objectMode: false }));
}

/** The rest of a file that begins with the key; undefined if it has another one. */
async function readKeyed(files: NamedBytes, name: string, key: Buffer): Promise<Readable | undefined> {
  const file = await files.read(name);
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
