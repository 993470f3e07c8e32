/** Accounts and the plans they were given. */
import { setAddress } from '#api/accounts/address.ts';
import { openAccount } from '#api/accounts/rules.ts';
import { endPlanGrant, grantPlan } from '#api/billing/grants.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { Token } from '#db/auth/token.ts';
import { PlanGrant } from '#db/billing/subscription.ts';
import { Domain } from '#db/domains/domain.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { planOf, planStatusOf } from '#rules/caps.ts';
import { errors } from '#runtime/errors.ts';
import { command, type Given, UsageError } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const accountCommands = {
  'account create': command({
    about: 'Opens an account, or takes the one that has the address, and prints it with a new token, once.',
    needs: ['email', 'name'],
    async run({ em, clock }, { email, name }) {
      const account = await openAccount(em, clock, { email, name });
      const { secret } = await issueToken(em, clock, account.id, { name: 'operator' });
      return { account_id: account.id, access_token: secret };
    },
  }),
  'account list': command({
    about: `Accounts, the newest first, ${listed} at a time; with --match those whose address or name has the words in it.`,
    needs: [],
    takes: ['match', 'after'],
    async run({ em, ...deps }, { match, after }) {
      const like = { $ilike: `%${(match ?? '').replaceAll(/[\\%_]/g, '\\$&')}%` };
      const where = {
        ...(match === undefined ? {} : { $or: [{ email: like }, { name: like }] }),
        ...(after === undefined ? {} : { id: { $lt: after } }),
      };
      const accounts = await em.find(Account, where, { orderBy: { id: 'desc' }, limit: rowsToRead });
      return pageOf(accounts, (account) => ({ ...shown(account), plan: planOf(deps, account).name }));
    },
  }),
  'account show': command({
    about: 'An account with its plan, sites, domains and tokens. Say --account or --email.',
    needs: [],
    takes: ['account', 'email'],
    run: show,
  }),
  'account email': command({
    about: 'Gives an account another address, where no mail can confirm it. Sign-in links to the old one end.',
    needs: ['account', 'email'],
    async run({ em, clock }, { account, email }) {
      const { old, account: changed } = await setAddress(em, { clock }, account, email);
      return { account_id: changed.id, email: changed.email, old_email: old };
    },
  }),
  'plan grant': command({
    about: 'Gives an account a plan until a date, in place of one that it was given before.',
    needs: ['account', 'plan', 'until'],
    async run({ em, ...deps }, { account, plan, until }) {
      const granted = await grantPlan(em, deps, { accountId: account, plan, endsAt: new Date(until) });
      return { account_id: account, plan: granted.plan, ends_at: granted.endsAt };
    },
  }),
  'plan end': command({
    about: 'Ends the plan that an account was given, now.',
    needs: ['account'],
    async run({ em, ...deps }, { account }) {
      const { plan } = await endPlanGrant(em, deps, account);
      return { account_id: account, plan };
    },
  }),
  'plan list': command({
    about: `The plans that were given and are not over, those that end first at the top, ${listed} at a time.`,
    needs: [],
    takes: ['after'],
    async run({ em, clock }, { after }) {
      const grants = await em.find(
        PlanGrant,
        { endedAt: null, endsAt: { $gt: clock.now() }, ...(after ? await endingAfter(em, after) : {}) },
        { orderBy: { endsAt: 'asc', id: 'asc' }, limit: rowsToRead, populate: ['account'] },
      );
      return pageOf(grants, ({ account, plan, createdAt, endsAt }) => {
        return { account_id: account.id, email: account.email, plan, created_at: createdAt, ends_at: endsAt };
      });
    },
  }),
};

/** Those that follow a given plan in the order of their ends. */
async function endingAfter(em: Given['em'], id: string) {
  const last = await em.findOne(PlanGrant, { id });
  if (!last) throw errors.not_found('No plan that was given has the id of --after.');
  return { $or: [{ endsAt: { $gt: last.endsAt } }, { endsAt: last.endsAt, id: { $gt: id } }] };
}

const shown = ({ id, name, email, createdAt, blockReason }: Account) => {
  return { id, name, email, created_at: createdAt, blocked: blockReason ?? null };
};

type Which = { account?: string | undefined; email?: string | undefined };

/** The account of a command that takes its id or its address. Throws UsageError, `not_found`. */
export async function namedAccount(em: EntityManager, name: string, { account: id, email }: Which): Promise<Account> {
  if (!id === !email) throw new UsageError(`${name} takes --account or --email, one of them.`);
  const account = await em.findOne(Account, id ? { id } : { email: String(email).trim().toLowerCase() });
  if (account) return account;
  throw errors.not_found('There is no such account. account list --match finds one.');
}

async function show({ em, ...deps }: Given, which: Which) {
  const account = await namedAccount(em, 'account show', which);
  const newest = { orderBy: { id: 'desc' }, limit: listed } as const;
  const [sites, domains, tokens] = [
    await em.find(Site, { account }, newest),
    await em.find(Domain, { account, removedAt: null }, newest),
    await em.find(Token, { account, revokedAt: null }, newest),
  ];
  return {
    ...shown(account),
    plan: planOf(deps, account).name,
    plan_status: planStatusOf(deps, account),
    sites: sites.map(({ id, name, status, blockReason }) => ({ id, name, status, blocked: blockReason ?? null })),
    domains: domains.map(({ id, name, status }) => ({ id, name, status })),
    tokens: tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt }) => {
      return { id, name, created_at: createdAt, last_used_at: lastUsedAt ?? null, expires_at: expiresAt ?? null };
    }),
  };
}
