/** The output of an earlier build of the same source, which need not be built again. */
import { Deployment, type Output } from '#db/deployments/deployment.ts';
import { publishedOutputOf } from '#db/previews/publishes.ts';
import type { Site } from '#db/sites/site.ts';
import type { BuilderDeps } from './deps.ts';
import { isStored } from './output.ts';

/** The digest of a deployment's source. Like caches, outputs of an earlier epoch are not used again. */
export function sourceDigest({ cacheEpoch }: Pick<Site, 'cacheEpoch'>, snapshot: string): string {
  return `${cacheEpoch} ${snapshot}`;
}

/**
 * What a build of this source without drafts has made before, for the same address and in the same image: that of the live version, or of the
 * slot's previous draft where only draft posts differ.
 */
export async function earlierOutput(
  { em, store, sandbox }: BuilderDeps,
  { site, siteUrl, sourceDigest: digest }: Deployment,
): Promise<{ number: number; output: Output } | undefined> {
  // The epoch may be a newer one than that of the snapshot.
  if (!digest?.startsWith(sourceDigest(site, ''))) return undefined;
  const status = { $in: ['live', 'retired', 'ready'] } as const;
  const same = {
    site: site.id,
    siteUrl,
    sourceDigest: digest,
    image: sandbox.image,
    status,
    manifestSha256: { $ne: null },
  };
  const found = await em().findOne(Deployment, same, { orderBy: { number: 'desc' } });
  const output = found && publishedOutputOf(found);
  return output && (await isStored(store, output)) ? { number: found.number, output } : undefined;
}
