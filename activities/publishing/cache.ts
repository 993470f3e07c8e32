/**
 * What earlier builds of a site left for its next one, kept when a version goes live and never before. It came out of site code and goes
 * back to code of the same site on the same image; a publish with `no-cache` does not use it.
 */
import { Deployment } from '#db/deployments/deployment.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import type { BuilderDeps } from './deps.ts';

type Parts = Pick<BuilderDeps, 'em' | 'store'> & { sandbox: Pick<BuilderDeps['sandbox'], 'image'> };

export async function siteCache(
  { em, store, sandbox }: Parts,
  { id, site, noCache }: Pick<Deployment, 'id' | 'noCache'> & { site: { id: string } },
): Promise<Pick<BuildRequest, 'cache' | 'onCache'>> {
  const name = `${site.id}.${sandbox.image}.tar`;
  const cache = noCache ? undefined : await store.caches.read(name);
  return {
    ...(cache ? { cache } : {}),
    async onCache(content) {
      const { status } = await em().findOneOrFail(Deployment, { id });
      if (status === 'live') await store.caches.put(name, content);
      else content.destroy();
    },
  };
}
