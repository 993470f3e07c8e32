/** A draft in a preview slot, put there without a build. */

import { renderManifest } from '#providers/manifest.ts';
import { newHostLabel, newId } from '#runtime/ids.ts';
import type { Fixture } from '#test/output/fixture.ts';

let number = 2_000_000;

/** Answers the deployment and the host's first label. */
export async function showDraft(
  { deps, clock }: Pick<Fixture, 'deps' | 'clock'>,
  { siteId, accountId, slot }: { siteId: string; accountId: string; slot: number },
  page: string,
): Promise<{ deploymentId: string; label: string }> {
  const { sha256, bytes } = await deps.store.put(Buffer.from(page));
  const manifest = await deps.store.put(renderManifest([{ path: 'index.html', sha256, bytes }]));
  const [id, label, now] = [newId('dep'), newHostLabel('preview'), clock.now()];
  const em = deps.em();
  await em.execute(
    `insert into deployment (id, site_id, number, kind, slot, status, ticket, site_url, manifest_sha256, file_count, created_by_id, created_at)
     values (?, ?, ?, 'draft', ?, 'ready', 0, 'http://site.test', ?, 1, ?, ?)`,
    [id, siteId, ++number, slot, manifest.sha256, accountId, now],
  );
  await em.execute(
    `insert into preview (id, site_id, slot, label, latest_id, deployment_id, expires_at, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [newId('prev'), siteId, slot, label, id, id, new Date(now.getTime() + 14 * 86_400_000), now],
  );
  return { deploymentId: id, label };
}
