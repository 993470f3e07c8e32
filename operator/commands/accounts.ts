/** Commands for accounts and granted plans. */
import { setAddress } from '#api/accounts/address.ts';
import { openAccount } from '#api/accounts/rules.ts';
import { endPlanGrant, grantPlan } from '#api/billing/grants.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { Token } from '#db/auth/token.ts';
import { PlanGrant } from '#db/billing/subscription.ts';
import { Domain } from '#db/domains/domain.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { planOf, planStatusOf } from '#rules/plan-limits.ts';
import { errors } from '#runtime/errors.ts';
import { command, type Given, UsageError } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const accountCommands = {
  'account create': command({
    about:
      'Creates an account, or finds the existing one with that address, and prints its id and a new token, which the owner sees under the name given with --token-name. The token is shown only once.',
    needs: ['email', 'name'],
    takes: ['token-name'],
    async run({ em, clock }, { email, name, 'token-name': given = 'operator' }) {
      const tokenName = given.trim();
      if (tokenName === '' || tokenName.length > 100)
        throw new UsageError('--token-name must have 1 to 100 characters.');
      const account = await openAccount(em, clock, { email, name });
      const secret = await em.transactional(async (tx) => {
        const issued = await issueToken(tx, clock, account.id, { name: tokenName });
        recordAct(tx, clock, platformFor(account.id), 'token.created', { subject: issued.token });
        return issued.secret;
      });
      return { account_id: account.id, access_token: secret };
    },
  }),
  'account list': command({
    about: `Lists accounts, newest first, ${listed} at a time. --match lists only accounts whose address or name contains the given text.`,
    needs: [],
    takes: ['match', 'after'],
    async run({ em, ...deps }, { match, after }) {
      const like = { $ilike: `%${(match ?? '').replaceAll(/[\\%_]/g, '\\$&')}%` };
      const where = {
        ...(match === undefined ? {} : { $or: [{ email: like }, { name: like }] }),
        ...(after === undefined ? {} : { id: { $lt: after } }),
      };
      const accounts = await em.find(Account, where, { orderBy: { id: 'desc' }, limit: rowsToRead });
      return pageOf(accounts, (account) => ({
        ...shown(account),
        plan: planOf(deps.config, account, deps.clock.now()).name,
      }));
    },
  }),
  'account show': command({
    about: 'Shows an account with its plan, sites, domains and tokens. Requires either --account or --email.',
    needs: [],
    takes: ['account', 'email'],
    run: show,
  }),
  'account email': command({
    about:
      'Changes an account’s address without a confirmation e-mail. Sign-in links sent to the old address stop working.',
    needs: ['account', 'email'],
    async run({ em, clock }, { account, email }) {
      const { old, account: changed } = await setAddress(em, { clock }, account, email);
      return { account_id: changed.id, email: changed.email, old_email: old };
    },
  }),
  'plan grant': command({
    about: 'Grants an account a plan until a given date. Replaces any earlier grant.',
    needs: ['account', 'plan', 'until'],
    async run({ em, ...deps }, { account, plan, until }) {
      const granted = await grantPlan(em, deps, { accountId: account, plan, endsAt: new Date(until) });
      return { account_id: account, plan: granted.plan, ends_at: granted.endsAt };
    },
  }),
  'plan end': command({
    about: 'Ends an account’s granted plan immediately.',
    needs: ['account'],
    async run({ em, ...deps }, { account }) {
      const { plan } = await endPlanGrant(em, deps, account);
      return { account_id: account, plan };
    },
  }),
  'plan list': command({
    about: `Lists granted plans that have not ended, the next to end first, ${listed} at a time.`,
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

/** Grants that follow this one in order of their end. */
async function endingAfter(em: Given['em'], id: string) {
  const last = await em.findOne(PlanGrant, { id });
  if (!last) throw errors.not_found('There is no granted plan with the id given in --after.');
  return { $or: [{ endsAt: { $gt: last.endsAt } }, { endsAt: last.endsAt, id: { $gt: id } }] };
}

const shown = ({ id, name, email, createdAt, blockReason }: Account) => {
  return { id, name, email, created_at: createdAt, blocked: blockReason ?? null };
};

type Which = { account?: string | undefined; email?: string | undefined };

/** The account with that id or address. Throws UsageError, `not_found`. */
export async function namedAccount(em: EntityManager, name: string, { account: id, email }: Which): Promise<Account> {
  if (!id === !email) throw new UsageError(`${name} requires either --account or --email.`);
  const account = await em.findOne(Account, id ? { id } : { email: String(email).trim().toLowerCase() });
  if (account) return account;
  throw errors.not_found('There is no such account. To search for it, run account list --match.');
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
    plan: planOf(deps.config, account, deps.clock.now()).name,
    plan_status: planStatusOf(deps.config, account, deps.clock.now()),
    sites: sites.map(({ id, name, status, blockReason }) => ({ id, name, status, blocked: blockReason ?? null })),
    domains: domains.map(({ id, name, status }) => ({ id, name, status })),
    tokens: tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt }) => {
      return { id, name, created_at: createdAt, last_used_at: lastUsedAt ?? null, expires_at: expiresAt ?? null };
    }),
  };
}
