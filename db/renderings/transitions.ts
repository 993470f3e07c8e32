/** The states of renderings: asked for once for each form of a version, drawn, and done or failed. */
import type { Deployment } from '#db/deployments/deployment.ts';
import type { HourlyUsage } from '#db/deployments/hourly-limits.ts';
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { formKey } from '#rules/looks.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { ErrorBody } from '#runtime/errors.ts';
import { type Checked, Rendering, RenderingPicture, type Work } from './rendering.ts';

export type NewRendering = {
  id: string;
  deployment: Pick<Deployment, 'id' | 'site'>;
  work: Work;
  /** Whether a call asked for it. */
  asked: boolean;
};

/** The same for every call that asks for the same picture, or for a check of the same pages. */
export function formOf(work: Work): string {
  if ('screenshot' in work) return `screenshot ${formKey(work.screenshot)}`;
  return work.paths === null ? 'checks' : `checks ${work.paths.join(' ')}`;
}

/** The rendering of this form that is done or under way. */
export async function findRendering(em: EntityManager, deployment: string, work: Work): Promise<Rendering | null> {
  return await em.findOne(Rendering, { deployment, form: formOf(work), status: { $ne: 'failed' } });
}

/** Queues the rendering, and starts its workflow when the transaction commits. Returns the id of the one that there is. */
export async function queueRendering(
  tx: EntityManager,
  clock: Clock,
  { id, deployment, work, asked }: NewRendering,
): Promise<string> {
  const kind = 'screenshot' in work ? 'screenshot' : 'checks';
  const [made] = await tx.execute<{ id: string }[]>(
    `insert into rendering (id, kind, site_id, deployment_id, form, work, status, asked, created_at)
     values (?, ?, ?, ?, ?, ?, 'queued', ?, ?)
     on conflict (deployment_id, form) where status <> 'failed' do nothing returning id`,
    [id, kind, deployment.site.id, deployment.id, formOf(work), JSON.stringify(work), asked, clock.now()],
  );
  if (!made) return (await findRendering(tx, deployment.id, work))?.id ?? id;
  const summary = kind === 'screenshot' ? 'Take a screenshot of a page' : 'Check pages in a browser';
  startWorkflow(tx, clock, 'renderPages', { renderingId: id }, { summary, site: deployment.site.id });
  return id;
}

/** When the calls of the owner's sites asked for renderings: of those since `since`, newest first, the one at `offset`. */
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
  const asked = askedSince(account, new Date(clock.now().getTime() - hourMs));
  const used = await em.count(Rendering, asked);
  const [first] = await em.find(Rendering, asked, { orderBy: { createdAt: 'asc' }, limit: 1, fields: ['createdAt'] });
  return { used, resetsAt: first && new Date(first.createdAt.getTime() + hourMs) };
}

const askedSince = (account: string, since: Date) => ({
  site: { account },
  asked: true,
  createdAt: { $gt: since },
});

/** Marks it as running. Returns it with its deployment and site, or null if it is finished or gone. */
export async function beginRendering(em: EntityManager, id: string): Promise<Rendering | null> {
  const rendering = await em.findOne(Rendering, { id }, { populate: ['deployment'] });
  if (!rendering || rendering.finishedAt) return null;
  if (rendering.status === 'queued') await em.nativeUpdate(Rendering, { id, status: 'queued' }, { status: 'running' });
  return rendering;
}

/** Stores what was drawn, unless it is finished already. The pictures are in the store. */
export async function finishRendering(
  em: EntityManager,
  clock: Clock,
  { id, site }: Pick<Rendering, 'id' | 'site'>,
  { pictures, result }: { pictures: readonly string[]; result: Checked | null },
): Promise<void> {
  await em.transactional(async (tx) => {
    const rows = await tx.nativeUpdate(
      Rendering,
      { id, finishedAt: null },
      { status: 'done', finishedAt: clock.now(), result },
    );
    if (rows === 0) return;
    for (const [position, sha256] of pictures.entries())
      tx.create(RenderingPicture, { rendering: id, position, site: site.id, sha256 });
  });
}

/** Gives up on it, unless it is finished already. */
export async function failRendering(em: EntityManager, clock: Clock, id: string, error: ErrorBody): Promise<void> {
  await em.nativeUpdate(Rendering, { id, finishedAt: null }, { status: 'failed', finishedAt: clock.now(), error });
}
