/** Screenshots, checks and comparisons: asked for once for each form of a version, within the owner's limit of an hour. */
import type { Readable } from 'node:stream';
import { type Actor, loadDeployment, requireAccessible } from '#api/access.ts';
import { loadSketch } from '#api/sketches/rules.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { Rendering, RenderingPicture, type Work } from '#db/renderings/rendering.ts';
import {
  askedAt,
  awaitRendering,
  findRendering,
  type NewRendering,
  queueRendering,
  unfinishedRenderings,
} from '#db/renderings/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { lockSiteForKeyShare } from '#db/sites/transitions.ts';
import { directionAt } from '#db/sketches/sketch.ts';
import { lookUpManifest } from '#providers/manifest-lookup.ts';
import { decodedPath, findFile } from '#providers/manifest-paths.ts';
import { call } from '#rules/calls/calls.ts';
import type { Screenshot } from '#rules/looks.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newId } from '#runtime/ids.ts';

/** The rendering of this form: the one that there is, or a new one. Throws `not_found`, `rate_limited`. */
export async function askFor(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, of, work }: { id: string; of: string; work: Work },
): Promise<string> {
  const deployment = await loadDeployment(em, actor, of);
  await requirePages(deps, deployment, pathsOf(work));
  const known = await findRendering(em, { deployment: deployment.id }, work);
  if (!known) return await queue(em, deps, deployment.site.account.id, { id, deployment, work, asked: true });
  if (!known.asked && !known.awaited && !known.finishedAt) await awaitRendering(em, deps.clock, known.id);
  return known.id;
}

async function queue(em: EntityManager, deps: Deps, account: string, rendering: NewRendering): Promise<string> {
  return await em.transactional(async (tx) => {
    if ('deployment' in rendering) await lockSiteForKeyShare(tx, rendering.deployment.site.id);
    await requireBelowLimit(tx, deps, account);
    return await queueRendering(tx, deps.clock, rendering);
  });
}

/** The same for a direction of a sketch. Throws `not_found`. */
export async function askForSketch(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  of: string,
  work: { screenshot: Screenshot; direction: number },
): Promise<string> {
  const sketch = await loadSketch(em, actor, of);
  if (sketch.status !== 'shown' || !directionAt(sketch, work.direction)) {
    throw errors.not_found(`This sketch shows no direction ${work.direction}.`, {
      nextAction: `Call ${call('sketch.list')} to see the directions of each sketch.`,
    });
  }
  const known = await findRendering(em, { sketch: sketch.id }, work);
  return (
    known?.id ?? (await queue(em, deps, actor.accountId, { id: newId('shot'), sketch: sketch.id, work, asked: true }))
  );
}

export const askForScreenshot = (em: EntityManager, deps: Deps, actor: Actor, of: string, screenshot: Screenshot) =>
  askFor(em, deps, actor, { id: newId('shot'), of, work: { screenshot } });

/** Throws `not_found` also if there is no version to compare with. */
export async function askForComparison(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, of, against, paths }: { id: string; of: string; against?: string | undefined; paths?: string[] | undefined },
): Promise<string> {
  const deployment = await loadDeployment(em, actor, of);
  const earlier =
    against === undefined ? await versionBefore(em, deployment) : await loadDeployment(em, actor, against);
  if (earlier?.id === of)
    throw errors.invalid_input('A version cannot be compared with itself: `against` names another.');
  if (!earlier || earlier.site.id !== deployment.site.id) {
    throw errors.not_found(`There is no version of this site to compare with version ${deployment.number}.`, {
      nextAction: `Call ${call('deployment.list', { id: deployment.site.id })} to list its versions, and name one as \`against\`.`,
    });
  }
  await requirePages(deps, earlier, []);
  return await askFor(em, deps, actor, { id, of, work: { comparison: { against: earlier.id, paths: paths ?? null } } });
}

/** What the version is compared with: the live version, or the one that was live before it. */
export async function versionBefore(
  em: EntityManager,
  { id, number, site }: { id: string; number: number; site: { id: string } },
): Promise<Deployment | null> {
  const { liveDeploymentId: live } = await em.findOneOrFail(Site, { id: site.id });
  if (live && live !== id) return await em.findOne(Deployment, { id: live });
  const earlier = { site: site.id, number: { $lt: number }, status: 'retired', manifestSha256: { $ne: null } } as const;
  return await em.findOne(Deployment, earlier, { orderBy: { number: 'desc' } });
}

/** The pages that must be in the version. */
function pathsOf(work: Work): readonly string[] {
  if ('screenshot' in work) return [work.screenshot.path];
  if ('card' in work) return [];
  return ('comparison' in work ? work.comparison.paths : work.paths) ?? [];
}

/** Throws `not_found` for a path that the version does not have. */
async function requirePages(
  { store }: Deps,
  { id, number, manifestSha256 }: Deployment,
  paths: readonly string[],
): Promise<void> {
  if (!manifestSha256) {
    throw errors.not_found(`Version ${number} has no files yet.`, {
      nextAction: `Call ${call('deployment.read', { id })} to see whether its build has finished.`,
    });
  }
  if (paths.length === 0) return;
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) throw errors.storage_error('This deployment’s file list could not be read.');
  const files = lookUpManifest(manifest);
  const missing = paths.find((sent) => {
    const path = decodedPath(sent);
    return path === undefined || !findFile(files, path);
  });
  if (missing === undefined) return;
  throw errors.not_found(`Version ${number} has no page ${missing}.`, {
    nextAction: `Call ${call('deployment.files', { id })} to list its files.`,
  });
}

/** At a time, for an account. */
const waitingMax = 20;

/** Under the lock of the owner's account, so that concurrent calls are all counted. */
async function requireBelowLimit(tx: EntityManager, { config, clock }: Deps, account: string): Promise<void> {
  const owner = await lockAccount(tx, account);
  if ((await unfinishedRenderings(tx, account)) >= waitingMax) {
    throw errors.rate_limited(`${waitingMax} screenshots and checks of the owner are not finished yet.`, {
      nextAction: 'Send the same call again in 5 seconds.',
      retryAfterSeconds: 5,
    });
  }
  const limit = limitsOf(config, owner, clock.now()).screenshots_per_hour;
  await requireBelowHourlyLimit(clock, {
    limit,
    message: `The owner has reached the limit of ${limit} screenshots and checks per hour.`,
    createdAt: (since, offset) => askedAt(tx, account, since, offset),
  });
}

/** The picture of a version for the card of its site. Throws `not_found`. */
export async function readCard(
  em: EntityManager,
  deps: Deps,
  version: { site: string; deployment: string },
): Promise<Picture> {
  const card = await em.findOne(Rendering, { ...version, kind: 'card', status: 'done' });
  return await readPicture(em, deps, { rendering: card?.id ?? '', position: 0 });
}

/** The rendering once it is finished, or as it is after the timeout. */
export async function waitForRendering(deps: Deps, id: string, timeoutMs: number): Promise<Rendering> {
  const load = () => deps.em().findOneOrFail(Rendering, { id });
  const on = { channel: 'rendering_changed', id } as const;
  return await loadUntil(deps.notifications, on, load, ({ finishedAt }) => !!finishedAt, timeoutMs);
}

/** Throws `not_found`. */
export async function loadCheck(em: EntityManager, actor: Actor, id: string): Promise<Rendering> {
  const found = isId('check', id) ? await em.findOne(Rendering, { id }) : null;
  return await requireAccessible(em, actor, found, { what: 'check', list: 'deployment.list' });
}

/** Throws `not_found`. */
export async function loadComparison(em: EntityManager, actor: Actor, id: string): Promise<Rendering> {
  const found = isId('cmp', id) ? await em.findOne(Rendering, { id }) : null;
  return await requireAccessible(em, actor, found, { what: 'comparison', list: 'deployment.list' });
}

/** `bytes`: its length. */
export type Picture = { content: Readable; bytes: number };

/** A picture: up to 36 MB, which a slow client does not keep in memory. Throws `not_found`. */
export async function readPicture(
  em: EntityManager,
  { store }: Deps,
  { rendering, position }: { rendering: string; position: number },
): Promise<Picture> {
  const picture = await em.findOne(RenderingPicture, { rendering, position });
  if (!picture) {
    const again = call(isId('cmp', rendering) ? 'comparison.read' : 'check.read', { id: rendering });
    throw errors.not_found('There is no picture with this number.', { nextAction: `Call ${again}.` });
  }
  const { sha256 } = picture;
  const bytes = (await store.sizes([sha256])).get(sha256);
  const content = bytes === undefined ? undefined : await store.read(sha256);
  if (!content || bytes === undefined) throw errors.storage_error('This picture cannot be read at the moment.');
  return { content, bytes };
}
