/** The states of renderings: asked for once for each form of a version, drawn, and done or failed. */
import type { Deployment } from '#db/deployments/deployment.ts';
import type { HourlyUsage } from '#db/deployments/hourly-limits.ts';
import type { EntityManager } from '#db/orm.ts';
import { type Compared, formKey } from '#rules/looks.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { type ErrorBody, errors } from '#runtime/errors.ts';
import { type Checked, Rendering, type RenderingKind, RenderingPicture, type Work } from './rendering.ts';
import { lockNewRendering, lockRenderings, restartRenderings, startNext } from './starts.ts';

export type NewRendering = {
  id: string;
  work: Work;
  /** Whether a call asked for it. */
  asked: boolean;
} & ({ deployment: Pick<Deployment, 'id' | 'site'> } | { sketch: string });

function kindOf(work: Work): RenderingKind {
  if ('screenshot' in work) return 'screenshot';
  if ('card' in work) return 'card';
  return 'comparison' in work ? 'comparison' : 'checks';
}

/** The same for every call that asks for the same picture, or for the same pages. */
export function formOf(work: Work): string {
  if ('direction' in work) return `direction ${work.direction} ${formKey(work.screenshot)}`;
  if ('screenshot' in work) return `screenshot ${formKey(work.screenshot)}`;
  if ('card' in work) return 'card';
  const [name, paths] =
    'comparison' in work ? [`comparison ${work.comparison.against}`, work.comparison.paths] : ['checks', work.paths];
  return [name, ...(paths ?? [])].join(' ');
}

/** The rendering of this form that is done or in progress. */
export async function findRendering(
  em: EntityManager,
  of: { deployment: string } | { sketch: string },
  work: Work,
): Promise<Rendering | null> {
  return await em.findOne(Rendering, { ...of, form: formOf(work), status: { $ne: 'failed' } });
}

/** Queues the rendering, and starts it if it is next when the transaction commits. Returns the id of the one that there is. */
export async function queueRendering(
  tx: EntityManager,
  clock: Clock,
  { id, work, asked, ...of }: NewRendering,
): Promise<string> {
  const kind = kindOf(work);
  const site = 'deployment' in of ? of.deployment.site.id : undefined;
  const which = 'deployment' in of ? { deployment: of.deployment.id } : of;
  const account = await lockNewRendering(tx, 'deployment' in of ? { site: of.deployment.site.id } : of);
  const [made] = await tx.execute<{ id: string }[]>(
    `insert into rendering (id, kind, site_id, ${'sketch' in which ? 'sketch_id' : 'deployment_id'}, form, work, status, asked, created_at)
     values (?, ?, ?, ?, ?, ?, 'queued', ?, ?) on conflict do nothing returning id`,
    [id, kind, site ?? null, ...Object.values(which), formOf(work), JSON.stringify(work), asked, clock.now()],
  );
  if (!made) return (await findRendering(tx, which, work))?.id ?? id;
  if (account !== undefined) await startNext(tx, clock, account, id);
  return id;
}

/** A call waits for it now: it gets the turn of those that calls asked for, and still counts against no limit. */
export async function awaitRendering(em: EntityManager, clock: Clock, id: string): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await lockRenderings(tx, id);
    await tx.nativeUpdate(Rendering, { id, asked: false, finishedAt: null }, { awaited: true });
    if (account !== undefined) await startNext(tx, clock, account, id);
  });
}

/** Whether a call waits for it by now. */
export async function isAwaited(em: EntityManager, id: string): Promise<boolean> {
  return (await em.count(Rendering, { id, awaited: true })) > 0;
}

/** When calls asked for renderings of the owner's sites and sketches: of those since `since`, newest first, the one at `offset`. */
export async function askedAt(em: EntityManager, account: string, since: Date, offset: number) {
  const [row] = await em.find(Rendering, askedSince(account, since), {
    orderBy: { createdAt: 'desc' },
    offset,
    limit: 1,
    fields: ['createdAt'],
  });
  return row?.createdAt;
}

/** How many renderings count now, and when the oldest stops counting. */
export async function renderingUsage(em: EntityManager, clock: Clock, account: string): Promise<HourlyUsage> {
  const asked = await em.find(Rendering, askedSince(account, new Date(clock.now().getTime() - hourMs)), {
    orderBy: { createdAt: 'asc' },
    fields: ['createdAt'],
  });
  return { used: asked.length, resetsAt: asked[0] && new Date(asked[0].createdAt.getTime() + hourMs) };
}

const ofAccount = (account: string) => ({ $or: [{ site: { account } }, { sketch: { account } }], asked: true });
const askedSince = (account: string, since: Date) => ({ ...ofAccount(account), createdAt: { $gt: since } });

/** How many that calls asked for are not finished. */
export async function unfinishedRenderings(em: EntityManager, account: string): Promise<number> {
  return await em.count(Rendering, { ...ofAccount(account), finishedAt: null });
}

/** Marks it as running. Returns it with its deployment, or null if it is finished or gone. */
export async function beginRendering(em: EntityManager, id: string): Promise<Rendering | null> {
  const rendering = await em.findOne(Rendering, { id }, { populate: ['deployment'] });
  if (!rendering || rendering.finishedAt) return null;
  if (rendering.status === 'queued') await em.nativeUpdate(Rendering, { id, status: 'queued' }, { status: 'running' });
  return rendering;
}

/** Stores what was drawn, unless it is finished already, and starts the next. The pictures are in the store. */
export async function finishRendering(
  em: EntityManager,
  clock: Clock,
  { id, site }: Pick<Rendering, 'id' | 'site'>,
  { pictures, result }: { pictures: readonly string[]; result: Checked | Compared | null },
): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await lockRenderings(tx, id);
    const rows = await tx.nativeUpdate(
      Rendering,
      { id, finishedAt: null },
      { status: 'done', finishedAt: clock.now(), result },
    );
    if (rows === 0) return;
    if (account !== undefined) await startNext(tx, clock, account);
    for (const [position, sha256] of pictures.entries())
      tx.create(RenderingPicture, { rendering: id, position, site: site?.id ?? null, sha256 });
  });
}

/** Gives up on it, unless it is finished already, and starts the next. */
export async function failRendering(em: EntityManager, clock: Clock, id: string, error: ErrorBody): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await lockRenderings(tx, id);
    await tx.nativeUpdate(Rendering, { id, finishedAt: null }, { status: 'failed', finishedAt: clock.now(), error });
    if (account !== undefined) await startNext(tx, clock, account);
  });
}

/** Longer than its turn and all attempts of its workflow take. */
const lostAfterMs = 2 * hourMs;

/** Fails those whose workflow is lost, so that the next call begins again, and starts what waits for none. Returns how many failed. */
export async function sweepRenderings(em: EntityManager, now: Date): Promise<number> {
  const lost = { finishedAt: null, createdAt: { $lt: new Date(now.getTime() - lostAfterMs) } };
  const error = errors.page_not_shown('The work was interrupted.', { nextAction: 'Send the same call again.' });
  const failed = await em.nativeUpdate(Rendering, lost, { status: 'failed', finishedAt: now, error: error.toBody() });
  await restartRenderings(em, { now: () => now });
  return failed;
}
