/** A version that was drawn, checked and compared, without a browser. */

import { Deployment } from '#db/deployments/deployment.ts';
import { Rendering, type Work } from '#db/renderings/rendering.ts';
import { finishRendering, queueRendering } from '#db/renderings/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { renderManifest } from '#providers/manifest.ts';
import { type Compared, usualHeight } from '#rules/looks.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';

let number = 500_000;
type Drawn = NonNullable<Parameters<typeof finishRendering>[3]['result']>;

/** Adds a version with one page to the site: its default screenshot, its checks and its comparison are done. */
export async function drawnVersion(deps: Deps, { siteId, accountId }: { siteId: string; accountId: string }) {
  const { clock, store } = deps;
  // Older than what limits of an hour count.
  const before = new Date(clock.now().getTime() - dayMs);
  const page = await store.put(Buffer.from('<!doctype html><title>Home</title>'));
  const manifest = await store.put(renderManifest([{ path: 'index.html', sha256: page.sha256, bytes: page.bytes }]));
  const site = await deps.em().findOneOrFail(Site, { id: siteId });
  const against = site.liveDeploymentId ?? (await addVersion()).id;
  const deployment = await addVersion();
  const usual = { path: '/', width: 390, height: usualHeight(390), scheme: 'light', format: 'webp' } as const;
  await draw(deps, deployment, { screenshot: usual }, { pictures: [page.sha256], result: null });
  const checked = { findings: [], pages: ['/'], pagesLeft: 0 };
  const check = await draw(deps, deployment, { paths: null }, { pictures: [page.sha256], result: checked });
  const picture = { position: 0, width: 800, height: 600 };
  const pages: Compared['pages'] = [{ page: '/', change: 'changed', width: 390, regions: [], picture }];
  const comparison = await draw(
    deps,
    deployment,
    { comparison: { against, paths: null } },
    { pictures: [page.sha256], result: { pages, unchanged: [], pagesLeft: 0 } },
  );
  return { id: deployment.id, check, comparison };

  async function addVersion(): Promise<Deployment> {
    const id = newId('dep');
    number += 1;
    await deps.em().execute(
      `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, file_count, created_by_id, created_at, finished_at, live_at)
       values (?, ?, ?, 'upload', 'retired', ?, 'http://site.test', ?, 1, ?, ?, ?, ?)`,
      [id, siteId, number, number, manifest.sha256, accountId, before, before, before],
    );
    return await deps.em().findOneOrFail(Deployment, { id });
  }
}

/** Adds the default screenshot of the sketch. */
export async function drawnSketch(deps: Deps, sketch: string): Promise<void> {
  const picture = await deps.store.put(Buffer.from('a picture'));
  const screenshot = { path: '/', width: 390, height: usualHeight(390), scheme: 'light', format: 'webp' } as const;
  await draw(deps, { sketch }, { screenshot, direction: 1 }, { pictures: [picture.sha256], result: null });
}

/** Adds a rendering of the version that is done. */
export async function draw(
  deps: Deps,
  of: Pick<Deployment, 'id' | 'site'> | { sketch: string },
  work: Work,
  { pictures, result }: { pictures: string[]; result: Drawn | null },
): Promise<string> {
  const em = deps.em();
  const prefix = 'comparison' in work ? 'cmp' : 'paths' in work ? 'check' : 'shot';
  const made = await em.transactional((tx) =>
    queueRendering(tx, deps.clock, {
      id: newId(prefix),
      work,
      asked: false,
      ...('sketch' in of ? of : { deployment: of }),
    }),
  );
  const rendering = await em.fork().findOneOrFail(Rendering, { id: made });
  await finishRendering(deps.em(), deps.clock, rendering, { pictures, result });
  return made;
}
