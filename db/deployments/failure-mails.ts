/** E-mails to owners about publishes that failed. */
import { Account } from '#db/accounts/account.ts';
import { wantsMail } from '#db/accounts/mail-choices.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { queueNotice } from '#db/mail/limits.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { ownerLinks } from '#runtime/owner-pages.ts';
import type { Deployment } from './deployment.ts';

/** For a site: one until a version goes live for the first time, or for a day; and this many in a day at most. */
const perDay = 5;
const reasonMax = 600;

export type FailureDeps = { clock: Clock; config: Config };

/**
 * Tells the owner that a publish failed, once until a publish succeeds or a day has passed. The transaction has settled
 * the deployment, has locked its site, and takes no other lock afterwards.
 */
export async function queuePublishFailed(tx: EntityManager, deps: FailureDeps, deployment: Deployment): Promise<void> {
  const { clock, config } = deps;
  const { id, kind, number, error } = deployment;
  if (!config.mail || kind === 'draft' || !error) return;
  const site = await tx.findOneOrFail(Site, { id: deployment.site.id });
  if (!(await wantsMail(tx, site.account.id, 'publishes'))) return;
  if (!(await isDue(tx, clock, site.id))) return;
  const owner = await tx.findOneOrFail(Account, { id: site.account.id });
  const { hostname } = await canonicalUrl(tx, config, site);
  const data = {
    hostname,
    number,
    by: await publisherOf(tx, deployment, owner.id),
    reason: error.message.slice(0, reasonMax),
    code: error.code,
    isLive: site.liveDeploymentId !== null,
    ...ownerLinks(config, `/account/sites/${site.id}/versions/${id}`),
  };
  await queueNotice(tx, deps, { kind: 'publish-failed', to: owner.email, data, site });
}

/** A restore makes no version live for the first time: an agent that fails and restores in turn sends one e-mail. */
async function isDue(tx: EntityManager, clock: Clock, siteId: string): Promise<boolean> {
  const [row] = await tx.execute<{ unanswered: number; sent: number }[]>(
    `with published as (
       select max(finished_at) as at from deployment where site_id = ? and live_at is not null and kind <> 'draft'
     )
     select count(*)::int as sent,
       count(*) filter (where published.at is null or created_at > published.at)::int as unanswered
     from mail, published
     where site_id = ? and kind = 'publish-failed' and booking_id is null and send_at is not null and created_at > ?`,
    [siteId, siteId, new Date(clock.now().getTime() - dayMs)],
  );
  return row?.unanswered === 0 && row.sent < perDay;
}

async function publisherOf(
  tx: EntityManager,
  { createdBy, createdVia, createdViaName }: Pick<Deployment, 'createdBy' | 'createdVia' | 'createdViaName'>,
  ownerId: string,
): Promise<string> {
  const { id, name } = await tx.findOneOrFail(Account, { id: createdBy.id });
  const whose = id === ownerId ? '' : ` of ${name}`;
  // The name of a token is for its own account only.
  if (createdVia === 'token') return whose ? `an agent${whose}` : `the agent ${createdViaName ?? 'without a name'}`;
  if (createdVia === 'git') return `a push with git${id === ownerId ? '' : ` by ${name}`}`;
  return name;
}
