/** A version that was drawn and checked, without a browser. */

import { Deployment } from '#db/deployments/deployment.ts';
import { Rendering, type Work } from '#db/renderings/rendering.ts';
import { finishRendering, queueRendering } from '#db/renderings/transitions.ts';
import { renderManifest } from '#providers/manifest.ts';
import { usualHeight } from '#rules/looks.ts';
import type { Deps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';

let number = 500_000;

/** Adds a version with one page to the site: its default screenshot and its checks are done. */
export async function drawnVersion(deps: Deps, { siteId, accountId }: { siteId: string; accountId: string }) {
  const { clock, store } = deps;
  const page = await store.put(Buffer.from('<!doctype html><title>Home</title>'));
  const manifest = await store.put(renderManifest([{ path: 'index.html', sha256: page.sha256, bytes: page.bytes }]));
  const id = newId('dep');
  number += 1;
  await deps.em().execute(
    `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, file_count, created_by_id, created_at, finished_at, live_at)
     values (?, ?, ?, 'upload', 'retired', ?, 'http://site.test', ?, 1, ?, ?, ?, ?)`,
    [id, siteId, number, number, manifest.sha256, accountId, ...Array.from({ length: 3 }, () => clock.now())],
  );
  const deployment = await deps.em().findOneOrFail(Deployment, { id });
  const usual = { path: '/', width: 390, height: usualHeight(390), scheme: 'light', format: 'webp' } as const;
  await draw('shot', { screenshot: usual });
  const check = await draw('check', { paths: null });
  return { id, check };

  async function draw(prefix: 'shot' | 'check', work: Work): Promise<string> {
    const em = deps.em();
    const made = await em.transactional((tx) =>
      queueRendering(tx, clock, { id: newId(prefix), deployment, work, asked: false }),
    );
    const rendering = await em.fork().findOneOrFail(Rendering, { id: made });
    const result = prefix === 'check' ? { findings: [], pages: ['/'], pagesLeft: 0 } : null;
    await finishRendering(deps.em(), clock, rendering, { pictures: [page.sha256], result });
    return made;
  }
}
