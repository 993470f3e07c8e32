/**
 * The blobs that a site has brought to the store, by a build or an upload. The store holds the bytes of all sites under their hashes:
 * naming a hash gives access to nothing unless a site that the caller may read already has those bytes.
 */

import type { Actor } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import {
  type HeldFile,
  listDeploymentFiles,
  recordHeldFiles,
  unlistedDeployments,
} from '#db/deployments/held-files.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockHeldFilesForShare } from '#db/sites/purge-files.ts';
import type { Site } from '#db/sites/site.ts';
import { wholeFiles } from '#providers/store/whole-files.ts';
import type { Deps } from '#runtime/deps.ts';

// However long a history is, one call reads this much; the next one continues.
const deploymentsAtOnce = 200;

/** `or` binds less than `and`: the site itself is reachable already. */
const reachable = ({ scope }: Actor): string => (scope.sites === 'all' ? '' : ' and site.id = any(?)');
const reachableIds = ({ scope }: Actor): string[] => (scope.sites === 'all' ? [] : [textArray(scope.sites)]);

/** Those of the hashes that this site, or another site that the caller owns and may reach, has; recorded for this site afterwards. */
export async function knownBlobsOf(
  em: EntityManager,
  deps: Pick<Deps, 'store'>,
  actor: Actor,
  site: Pick<Site, 'id'>,
  hashes: string[],
): Promise<Map<string, number>> {
  await listFiles(em, deps, actor, site.id);
  const found = await heldFilesOf(em, actor, site, hashes);
  // Rows are checked against the store: bytes that are lost have to be sent again.
  const sound = (await wholeFiles(deps.store, found)).map(({ sha256 }) => sha256);
  return await em.transactional(async (tx) => {
    await lockHeldFilesForShare(tx);
    const known = await heldFilesOf(tx, actor, site, sound);
    await recordHeldFiles(tx, site.id, known);
    return new Map(known.map(({ sha256, bytes }) => [sha256, bytes]));
  });
}

async function heldFilesOf(
  em: EntityManager,
  actor: Actor,
  site: Pick<Site, 'id'>,
  hashes: string[],
): Promise<HeldFile[]> {
  const found = await em.execute<{ sha256: string; bytes: string; encodings: string[] }[]>(
    `select distinct on (held.sha256) encode(held.sha256, 'hex') as sha256, held.bytes, held.encodings
     from jsonb_array_elements_text(?::jsonb) as asked(sha256)
     join held_file held on held.sha256 = decode(asked.sha256, 'hex')
     join site on site.id = held.site_id
     where (site.id = ? or site.account_id = ?${reachable(actor)}) and site.purged_at is null`,
    [JSON.stringify(hashes), site.id, actor.accountId, ...reachableIds(actor)],
  );
  return found.map(({ bytes, ...file }) => ({ ...file, bytes: Number(bytes) }));
}

/** Records the files of deployments that were built since the last call. */
async function listFiles(em: EntityManager, { store }: Pick<Deps, 'store'>, actor: Actor, siteId: string) {
  const condition = `(site.id = ? or site.account_id = ?${reachable(actor)})`;
  const values = [siteId, actor.accountId, ...reachableIds(actor)];
  const unlisted = await unlistedDeployments(em, { condition, values, limit: deploymentsAtOnce });
  for (const deployment of unlisted) await listDeploymentFiles(em, store, deployment);
}
