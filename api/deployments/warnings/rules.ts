/** The warnings of a deployment: computed on the first read, then stored on its row. */

import { redirectsOf } from '#api/redirects/rules.ts';
import { type Deployment, type FoundWarnings, type Warnings, warningKinds } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { isRestorable } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { addWarning } from './causes.ts';
import { findUnusualDrafts, unusualDraftsMessage } from './drafts.ts';
import { deadForms } from './forms.ts';
import { inspect } from './inspect.ts';

/** How long a response waits for warnings: for a call that makes a version live, and for one that reads them. */
const inspectionTimeoutMs = { passing: 150, asked: 2_000 } as const;

/** The warnings part of a response about a deployment. */
export async function warningsPart(
  em: EntityManager,
  deps: Deps,
  deployment: Deployment,
  wanted: keyof typeof inspectionTimeoutMs,
): Promise<{ warnings?: Warnings }> {
  const found = await warningsOf(em, deps, deployment, inspectionTimeoutMs[wanted]);
  return found ? { warnings: await cachedWarnings(em, deployment.site.id, found) } : {};
}

/** Includes the current state of the forms on its pages. */
async function cachedWarnings(
  em: EntityManager,
  siteId: string,
  { items, counts, pages, forms }: FoundWarnings,
): Promise<Warnings> {
  const dead = await deadForms(em, siteId, forms ?? []);
  const none = Object.fromEntries(warningKinds.map((kind) => [kind, 0])) as Warnings['counts'];
  const byCause: Warnings['items'] = [];
  for (const one of [...dead, ...items]) addWarning(byCause, one);
  return {
    items: byCause,
    counts: { ...none, ...counts, dead_form: dead.length },
    pages,
  };
}

const running = new Map<string, Promise<FoundWarnings | undefined>>();

/** Concurrent callers share one inspection: each alone would read less in its time. */
async function warningsOf(
  em: EntityManager,
  deps: Deps,
  deployment: Deployment,
  timeoutMs: number,
): Promise<FoundWarnings | undefined> {
  if (deployment.warnings) return deployment.warnings;
  const key = `${deployment.id}:${timeoutMs}`;
  const found = running.get(key) ?? findWarnings(em, deps, deployment, timeoutMs).finally(() => running.delete(key));
  running.set(key, found);
  return await found;
}

/** Undefined if nothing was published or the output could not be read; neither is an error. */
async function findWarnings(
  em: EntityManager,
  deps: Deps,
  deployment: Deployment,
  timeoutMs: number,
): Promise<FoundWarnings | undefined> {
  const { id, manifestSha256, siteUrl, status } = deployment;
  if (!manifestSha256 || !(isRestorable(deployment) || status === 'ready')) return undefined;
  try {
    const site = await em.findOneOrFail(Site, { id: deployment.site.id });
    const origins = [...new Set([siteUrl, siteAddress(deps.config, site.name)])].map((url) => new URL(url).origin);
    const rules = await redirectsOf(deps, site);
    const found = await inspect(deps.store, {
      manifestSha256,
      origins,
      baseUrl: deps.config.baseUrl,
      rules,
      timeoutMs,
    });
    if (found) await addDrafts(deps, deployment, found, timeoutMs);
    // An inspection that was aborted to make room restarts for the next reader.
    if (
      found &&
      ((found.pages.read === found.pages.all && !found.photosUnread) || timeoutMs === inspectionTimeoutMs.asked)
    )
      await saveWarnings(em, id, found);
    return found;
  } catch (err) {
    deps.log.warn({ err, deploymentId: id }, 'could not check the output of a version for warnings');
    return undefined;
  }
}

async function addDrafts(
  { repositories }: Deps,
  { site, contentCommit }: Deployment,
  found: FoundWarnings,
  timeoutMs: number,
): Promise<void> {
  if (!repositories || !contentCommit) return;
  const paths = await findUnusualDrafts(repositories, site.id, contentCommit, performance.now() + timeoutMs);
  const [path] = paths;
  if (path === undefined) return;
  found.counts.unusual_draft = paths.length;
  const places = paths.map((one) => `src/content/${one}`).slice(0, 5);
  found.items.unshift({
    kind: 'unusual_draft',
    path: `src/content/${path}`,
    count: paths.length,
    places,
    message: unusualDraftsMessage(paths),
  });
}

async function saveWarnings(em: EntityManager, id: string, found: FoundWarnings): Promise<void> {
  await em.execute('update deployment set warnings = ?::jsonb where id = ? and warnings is null', [
    JSON.stringify(found),
    id,
  ]);
}
