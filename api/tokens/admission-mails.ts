/** E-mails to owners about agents and apps that got access. */
import { Account } from '#db/accounts/account.ts';
import { wantsMail } from '#db/accounts/mail-choices.ts';
import type { Token } from '#db/auth/token.ts';
import type { ActedBy } from '#db/history/recording.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Scope } from '#rules/scopes.ts';
import { hourMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { ownerLinks } from '#runtime/owner-pages.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { scopeLine } from '#web/pages/scope.ts';
import { day } from '#web/times.ts';

/** To one account; the last of them says that no more are sent. Scaled by `FRONTAGE_RATE_SCALE`. */
const perHour = 10;
const websitesMax = 10;

type Given = { by: ActedBy; isRenewable: boolean };

/** Tells the owner which agent got access. The transaction has locked the account and created the token. */
export async function queueAgentAdmitted(
  tx: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  { name, scope, expiresAt, account: { id } }: Token,
  { by, isRenewable }: Given,
): Promise<void> {
  const { config } = deps;
  if (!config.mail || !(await wantsMail(tx, id, 'agents'))) return;
  const left = Math.ceil(perHour * config.rateScale) - (await sentWithinHour(tx, deps, id));
  if (left <= 0) return;
  const { email: to } = await tx.findOneOrFail(Account, { id });
  const data = {
    agent: name,
    may: scopeLine(scope),
    websites: await websitesOf(tx, deps, scope),
    givenBy: by.via?.kind === 'token' ? (by.via.name ?? '') : null,
    ends: expiresAt && !isRenewable ? `${day(expiresAt)}, or when you end it` : 'when you end it',
    isLast: left === 1,
    ...ownerLinks(config, '/account/agents'),
  };
  queueMail(tx, deps, { kind: 'agent-admitted', to, data, account: id });
}

async function sentWithinHour(tx: EntityManager, { clock }: Pick<Deps, 'clock'>, accountId: string): Promise<number> {
  const [row] = await tx.execute<{ sent: number }[]>(
    `select count(*)::int as sent from mail where account_id = ? and kind = 'agent-admitted' and created_at > ?`,
    [accountId, new Date(clock.now().getTime() - hourMs)],
  );
  return row?.sent ?? 0;
}

/** The hostnames of the sites, where the access is limited to some. */
async function websitesOf(tx: EntityManager, { config }: Pick<Deps, 'config'>, { sites }: Scope): Promise<string[]> {
  if (sites === 'all') return [];
  const found = await tx.find(Site, { id: { $in: sites } }, { orderBy: { name: 'asc' } });
  const shown = found.slice(0, websitesMax).map(({ name }) => siteHostname(config, name));
  return found.length > websitesMax ? [...shown, `${found.length - websitesMax} more`] : shown;
}
