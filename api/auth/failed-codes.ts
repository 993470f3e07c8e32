/** The history of what five wrong codes ended: one entry for each link, request or deletion, not for each code. */
import { Account } from '#db/accounts/account.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Action } from '#rules/history.ts';
import type { Clock } from '#runtime/clock.ts';

type Failed = Extract<Action, 'account.signin_failed' | 'account.access_request_failed' | 'account.deletion_failed'>;

/** Records it in the history of the account with this id or address. An address may have no account. */
export async function recordFailedCodes(
  tx: EntityManager,
  clock: Clock,
  action: Failed,
  whose: { id: string } | { email: string },
): Promise<void> {
  const account = await tx.findOne(Account, { ...whose, purgedAt: null }, { fields: ['id'] });
  if (account) recordAct(tx, clock, platformFor(account.id), action, { subject: { id: account.id, name: null } });
}
