/**
 * The acceptance of deployments: numbers are assigned, and the workflow that finishes the deployment is
 * started.
 */
import { Account } from '#db/accounts/account.ts';
import { type ActedBy, person } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { publishKinds } from '#rules/states.ts';
import { deploymentWorkflow } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import type { ErrorBody } from '#runtime/errors.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { Deployment } from './deployment.ts';
import { supersede } from './queue.ts';

export type AcceptanceDeps = Pick<Deps, 'clock' | 'config'>;

type Required = 'id' | 'kind' | 'siteUrl';
type Optional =
  | 'sourceCommit'
  | 'contentCommit'
  | 'noCache'
  | 'slot'
  | 'expectedHeads'
  | 'image'
  | 'manifestSha256'
  | 'fileCount'
  | 'totalBytes'
  | 'startedAt'
  | 'uploadEndsAt';
export type NewDeployment = Pick<Deployment, Required> & Partial<Pick<Deployment, Optional>> & { createdBy: ActedBy };

/**
 * Adds a deployment of the site, whose row the transaction has locked and which is changeable. A draft
 * has no ticket, because it never goes live. The caller has called
 * `requireHourlyLimits`.
 */
export async function acceptDeployment(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  wanted: NewDeployment,
): Promise<Deployment> {
  const deployment = add(tx, deps, site, wanted);
  await tx.flush();
  if (wanted.kind !== 'upload') start(tx, deps, deployment);
  return deployment;
}

/** Adds a publish of the site, whose row the transaction has locked, that cannot begin. */
export async function refuseDeployment(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  wanted: NewDeployment,
  error: ErrorBody,
): Promise<void> {
  Object.assign(add(tx, deps, site, wanted), { status: 'failed', error, finishedAt: deps.clock.now() });
  await tx.flush();
}

function add(tx: EntityManager, deps: AcceptanceDeps, site: Site, { createdBy, ...wanted }: NewDeployment): Deployment {
  const hasTicket = wanted.kind !== 'draft';
  site.lastNumber += 1;
  if (hasTicket) site.lastTicket += 1;
  return tx.create(Deployment, {
    ...wanted,
    site,
    number: site.lastNumber,
    status: wanted.kind === 'upload' ? 'uploading' : 'queued',
    ticket: hasTicket ? site.lastTicket : 0,
    createdBy: tx.getReference(Account, createdBy.accountId),
    createdVia: (createdBy.via ?? person).kind,
    createdViaName: (createdBy.via ?? person).name,
    createdAt: deps.clock.now(),
  });
}

function start(tx: EntityManager, { clock, config }: AcceptanceDeps, deployment: Deployment): void {
  const { id, site, kind, slot, number } = deployment;
  const hostname = siteHostname(config, site.name);
  const act = {
    site: 'Publish',
    posts: 'Publish the posts of',
    draft: `Preview ${slot} of`,
    preview: `Publish preview ${slot} of`,
  };
  const summary = `${act[kind as keyof typeof act]} ${hostname}, version ${number}`;
  const about = { summary, site: site.id, account: site.account.id, hostname };
  startWorkflow(tx, clock, deploymentWorkflow(deployment), { deploymentId: id }, about);
}

export type NewPublish = Pick<
  NewDeployment,
  'id' | 'siteUrl' | 'sourceCommit' | 'contentCommit' | 'noCache' | 'createdBy'
> & {
  kind: (typeof publishKinds)[number];
};

/**
 * Accepts a publish. It supersedes those of the same scope that still wait; a whole `site` supersedes waiting `posts`
 * too. The caller has called `requireHourlyLimits`, before it changes a branch.
 */
export async function acceptPublish(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  publish: NewPublish,
): Promise<Deployment> {
  const deployment = await acceptDeployment(tx, deps, site, publish);
  const kinds = publish.kind === 'site' ? publishKinds : (['posts'] as const);
  await supersede(tx, deps.clock, deployment, { statuses: ['queued'], kinds });
  return deployment;
}
