/**
 * What earlier builds of a site left for its next one, kept when a version goes live and never before. It came out of site code, and only
 * builds that execute the same code get it: reverting a commit also gets rid of what that commit left. A publish with `no-cache` does not
 * use it.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Deployment } from '#db/deployments/deployment.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import type { BuilderDeps } from './deps.ts';

type Parts = Pick<BuilderDeps, 'em' | 'store'> & { sandbox: Pick<BuilderDeps['sandbox'], 'image'> };
type Cached = Pick<Deployment, 'id' | 'noCache'> & { site: { id: string; cacheEpoch: number } };

/** The name of a site's cache for one image of the sandbox. */
export const cacheName = ({ site, image }: { site: string; image: string }) => `${site}.${image}.tar`;

/** `executed` is the digest of the snapshot; without one, for a snapshot of an earlier release, there is no cache. */
export async function siteCache(
  { em, store, sandbox }: Parts,
  { id, site, noCache }: Cached,
  executed: string | undefined,
): Promise<Pick<BuildRequest, 'cache' | 'onCache'>> {
  if (executed === undefined) return {};
  const name = cacheName({ site: site.id, image: sandbox.image });
  // The file begins with its key, so that a site has one file, and its key and bytes change together.
  const key = createHash('sha256').update(`${site.cacheEpoch} ${executed}`).digest();
  const cache = noCache ? undefined : await withoutKey(await store.caches.read(name), key);
  return {
    ...(cache ? { cache } : {}),
    async onCache(content) {
      const { status } = await em().findOneOrFail(Deployment, { id });
      if (status === 'live') await store.caches.put(name, Readable.from(after(key, content), { objectMode: false }));
      else content.destroy();
    },
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
