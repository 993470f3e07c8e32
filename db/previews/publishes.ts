/** Publishes of preview slots: accepted, and made live with the bytes that were built when the slot was previewed. */

import { Account } from '#db/accounts/account.ts';
import { Deployment, type Mains, type Output } from '#db/deployments/deployment.ts';
import { type AcceptedPublish, endOvertaken, movePointer } from '#db/deployments/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { isSettled } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';

export type AcceptedSlotPublish = {
  id: string;
  siteId: string;
  slot: number;
  createdBy: string;
  requireRoom: AcceptedPublish['requireRoom'];
  /** Throws where the slot may not be published. Asked under the site's lock. */
  judge: (
    tx: EntityManager,
    site: Site,
  ) => Promise<{ draft: Deployment; output: Output; mains: Mains; hostname: string }>;
};

/** Accepts the publish of a slot: a row with the next ticket and the bytes that are to go live. Undefined when the site was archived meanwhile. */
export async function acceptSlotPublish(
  em: EntityManager,
  clock: Clock,
  publish: AcceptedSlotPublish,
): Promise<Deployment | undefined> {
  return await em.transactional(async (tx) => {
    const site = await lockSite(tx, publish.siteId);
    if (site.status === 'archived') return undefined;
    const { draft, output, mains, hostname } = await publish.judge(tx, site);
    const same = (await unfinishedSlotPublishes(tx, site.id)).find((one) => isOf(one, draft));
    if (same) return same;
    await tx.execute('select 1 from account where id = ? for no key update', [site.account.id]);
    await publish.requireRoom(tx, site);
    site.lastTicket += 1;
    site.lastNumber += 1;
    const deployment = tx.create(Deployment, {
      ...output,
      id: publish.id,
      site,
      number: site.lastNumber,
      kind: 'preview',
      slot: publish.slot,
      status: 'queued',
      ticket: site.lastTicket,
      mainsBefore: mains,
      sourceCommit: draft.sourceCommit ?? null,
      contentCommit: draft.contentCommit ?? null,
      image: draft.image ?? null,
      siteUrl: draft.siteUrl,
      createdBy: tx.getReference(Account, publish.createdBy),
      createdAt: clock.now(),
      startedAt: clock.now(),
    });
    await tx.flush();
    const summary = `Publish preview ${publish.slot} of ${hostname}, version ${deployment.number}`;
    const about = { summary, site: site.id, account: site.account.id, hostname };
    startWorkflow(tx, clock, 'publishPreview', { deploymentId: deployment.id }, about);
    return deployment;
  });
}

function isOf(publish: Deployment, draft: Deployment): boolean {
  return publish.slot === draft.slot && publish.manifestSha256 === (draft.withoutDrafts ?? draft).manifestSha256;
}

/**
 * Makes a publish of a slot live: `bringMains` first brings its commits onto `main`. Something later that is live, or an archived site, ends it
 * before that, and its work stays in its slot. Repeating it answers the same.
 */
export async function putSlotLive(
  em: EntityManager,
  clock: Clock,
  deploymentId: string,
  bringMains: (deployment: Deployment) => Promise<void>,
): Promise<Deployment> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status) || (await endOvertaken(tx, clock, site, deployment))) return deployment;
    await bringMains(deployment);
    await movePointer(tx, clock, site, deployment, deployment.ticket);
    return deployment;
  });
}

/** Publishes of the site's slots that have not ended, the earliest first. */
export async function unfinishedSlotPublishes(tx: EntityManager, siteId: string): Promise<Deployment[]> {
  const where = { site: siteId, kind: 'preview', status: 'queued', ticket: { $gt: 0 } } as const;
  return await tx.find(Deployment, where, { orderBy: { ticket: 'asc' }, refresh: true });
}
