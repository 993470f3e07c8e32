/**
 * The blobs that a site has brought to the store, by a build or an upload. The store holds the bytes of all sites under their hashes:
 * naming a hash gives access to nothing unless a site that the caller may read already has those bytes.
 */

import type { Actor } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Deps } from '#runtime/deps.ts';

export type KnownBlob = { sha256: string; bytes: number };

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
  const found = await em.execute<{ sha256: string; bytes: string; encodings: string[] }[]>(
    `select distinct on (held.sha256) encode(held.sha256, 'hex') as sha256, held.bytes, held.encodings
     from jsonb_array_elements_text(?::jsonb) as asked(sha256)
     join held_file held on held.sha256 = decode(asked.sha256, 'hex')
     join site on site.id = held.site_id
     where site.id = ? or site.account_id = ?${reachable(actor)}`,
    [JSON.stringify(hashes), site.id, actor.accountId, ...reachableIds(actor)],
  );
  // Rows are checked against the store: bytes that are lost have to be sent again.
  const sizes = await deps.store.sizes(found.map(({ sha256 }) => sha256));
  const sound = found.filter(({ sha256, bytes }) => sizes.get(sha256) === Number(bytes));
  await recordKnownBlobs(
    em,
    site.id,
    sound.map(({ sha256, bytes, encodings }) => ({ sha256, bytes: Number(bytes), encodings })),
  );
  return new Map(sound.map(({ sha256, bytes }) => [sha256, Number(bytes)]));
}

/** Records that the site has these blobs. */
export async function recordKnownBlobs(
  em: EntityManager,
  siteId: string,
  files: readonly (KnownBlob & { encodings: readonly string[] })[],
): Promise<void> {
  if (files.length === 0) return;
  await em.execute(
    `insert into held_file (site_id, sha256, bytes, encodings)
     select distinct on (file.sha256) ?, decode(file.sha256, 'hex'), file.bytes,
       array(select jsonb_array_elements_text(file.encodings))
     from jsonb_to_recordset(?::jsonb) as file(sha256 text, bytes bigint, encodings jsonb)
     on conflict do nothing`,
    [siteId, JSON.stringify(files.map(({ sha256, bytes, encodings }) => ({ sha256, bytes, encodings })))],
  );
}

/** Records the files of deployments that were built since the last call. */
async function listFiles(em: EntityManager, deps: Pick<Deps, 'store'>, actor: Actor, siteId: string): Promise<void> {
  const unlisted = await em.execute<{ id: string; site: string; manifest: string }[]>(
    `select deployment.id, site.id as site, deployment.manifest_sha256 as manifest
     from deployment join site on site.id = deployment.site_id
     where (site.id = ? or site.account_id = ?${reachable(actor)}) and not files_listed and manifest_sha256 is not null
     order by deployment.id desc limit ${deploymentsAtOnce}`,
    [siteId, actor.accountId, ...reachableIds(actor)],
  );
  for (const { id, site, manifest } of unlisted) {
    const content = await deps.store.readAll(manifest);
    if (content) await recordKnownBlobs(em, site, parseManifest(content).map(withEncodings));
    await em.execute('update deployment set files_listed = true where id = ?', [id]);
  }
}

function withEncodings({ sha256, bytes, encodings = [] }: ManifestFile) {
  return { sha256, bytes, encodings };
}
