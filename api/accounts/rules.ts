/** Accounts: opening one, and what is counted about one. */
import { filesToday } from '../../db/allowance.ts';
import { Account } from '../../db/entities/account.ts';
import { Site } from '../../db/entities/site.ts';
import { Token } from '../../db/entities/token.ts';
import type { EntityManager } from '../../db/orm.ts';
import type { Deps } from '../../deps.ts';
import { errors } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { usable } from '../tokens/rules.ts';

/** Opens an account, or answers the one that this address has. Throws `invalid_email`. */
export async function openAccount(
  em: EntityManager,
  clock: Deps['clock'],
  { email, name }: { email: string; name: string },
): Promise<Account> {
  const address = email.trim().toLowerCase();
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) throw errors.invalid_email('That is not a plain email address.');
  // Two calls at the same moment open one account.
  await em.execute(
    `insert into account (id, name, email, created_at) values (?, ?, ?, ?) on conflict (email) do nothing`,
    [newId('acct'), name, address, clock.now()],
  );
  return await em.findOneOrFail(Account, { email: address });
}

export type Usage = { sites: number; archivedSites: number; tokens: number; files: { used: number; resetsAt: Date } };

/** What the account has of what is capped or counted. */
export async function countUsage(em: EntityManager, clock: Deps['clock'], accountId: string): Promise<Usage> {
  const sites = await em.count(Site, { account: accountId, status: 'active' });
  const archivedSites = await em.count(Site, { account: accountId, status: 'archived' });
  const tokens = await em.count(Token, usable(accountId, clock.now()));
  return { sites, archivedSites, tokens, files: await filesToday(em, clock, accountId) };
}
