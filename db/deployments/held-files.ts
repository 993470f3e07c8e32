/**
 * The files that a site has brought to the store, by a build or an upload, as rows: the index of all manifests. Rows of
 * builds are written when somebody first asks for them.
 */
import type { EntityManager } from '#db/orm.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';

export type HeldFile = { sha256: string; bytes: number; encodings: readonly string[] };
export type Unlisted = { id: string; site: string; manifests: string[] };

/** Records that the site has these files. */
export async function recordHeldFiles(em: EntityManager, siteId: string, files: readonly HeldFile[]): Promise<void> {
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

/** Built deployments whose files are not rows yet, newest first. `condition` is about `site`. */
export async function unlistedDeployments(
  em: EntityManager,
  { condition, values, limit }: { condition: string; values: unknown[]; limit: number },
): Promise<Unlisted[]> {
  return await em.execute<Unlisted[]>(
    `select deployment.id, site.id as site,
       array_remove(array[manifest_sha256, published_output ->> 'manifestSha256'], null) as manifests
     from deployment join site on site.id = deployment.site_id
     where ${condition} and not files_listed and manifest_sha256 is not null
     order by deployment.id desc limit ${limit}`,
    values,
  );
}

/** Records the files of one deployment. False if the store lacks a manifest: then the list is not complete. */
export async function listDeploymentFiles(
  em: EntityManager,
  store: Pick<Store, 'readAll'>,
  { id, site, manifests }: Unlisted,
): Promise<boolean> {
  for (const manifest of manifests) {
    const content = await store.readAll(manifest);
    if (!content) return false;
    await recordHeldFiles(em, site, parseManifest(content).map(withEncodings));
  }
  await em.execute('update deployment set files_listed = true where id = ?', [id]);
  return true;
}

function withEncodings({ sha256, bytes, encodings = [] }: ManifestFile): HeldFile {
  return { sha256, bytes, encodings };
}
