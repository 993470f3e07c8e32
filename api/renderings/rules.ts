/** Screenshots and checks: asked for once for each form of a version, within the owner's limit of an hour. */
import { type Actor, loadDeployment, requireAccessible } from '#api/access.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { Rendering, RenderingPicture, type Work } from '#db/renderings/rendering.ts';
import { askedAt, findRendering, queueRendering } from '#db/renderings/transitions.ts';
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
  await requirePages(deps, deployment, 'screenshot' in work ? [work.screenshot.path] : (work.paths ?? []));
  const known = await findRendering(em, deployment.id, work);
  if (known) return known.id;
  return await em.transactional(async (tx) => {
    await requireBelowLimit(tx, deps, deployment.site.account.id);
    return await queueRendering(tx, deps.clock, { id, deployment, work, asked: true });
  });
}

export const askForScreenshot = (em: EntityManager, deps: Deps, actor: Actor, of: string, screenshot: Screenshot) =>
  askFor(em, deps, actor, { id: newId('shot'), of, work: { screenshot } });

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

/** Under the lock of the owner's account, so that concurrent calls are all counted. */
async function requireBelowLimit(tx: EntityManager, { config, clock }: Deps, account: string): Promise<void> {
  const owner = await lockAccount(tx, account);
  const limit = limitsOf(config, owner, clock.now()).screenshots_per_hour;
  await requireBelowHourlyLimit(clock, {
    limit,
    message: `The owner has reached the limit of ${limit} screenshots and checks per hour.`,
    createdAt: (since, offset) => askedAt(tx, account, since, offset),
  });
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

/** The bytes of a picture. Throws `not_found`. */
export async function readPicture(
  em: EntityManager,
  { store }: Deps,
  rendering: string,
  position: number,
): Promise<Buffer> {
  const picture = await em.findOne(RenderingPicture, { rendering, position });
  if (!picture)
    throw errors.not_found('This check has no such picture.', {
      nextAction: `Call ${call('check.read', { id: rendering })}.`,
    });
  const bytes = await store.readAll(picture.sha256);
  if (!bytes) throw errors.storage_error('This picture cannot be read at the moment.');
  return bytes;
}
