import type { Api } from '#api/api.ts';
import { payoutsOf } from '#api/payouts/account-view.ts';
import { skillOf } from '#api/skill/tree.ts';
import { Account } from '#db/accounts/account.ts';
import { hasBuilder, presentSandboxes } from '#db/deployments/builder-capacity.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { pendingChange } from './address.ts';
import { changeAccount, countUsage } from './rules.ts';
import { accountChange, accountChangedSchema, accountSchema, accountView } from './schemas.ts';

/** The account behind the token. */
export function accountRoutes(app: Api, deps: Deps): void {
  const { clock, config } = deps;

  async function read(em: EntityManager, account: Account) {
    const pending = await pendingChange(em, clock.now(), account.id);
    const usage = await countUsage(em, clock, account.id);
    const builders = await hasBuilder(em, clock);
    const sandboxes = await presentSandboxes(em, clock);
    const payouts = await payoutsOf(em, deps, account.id);
    const { version: skill } = await skillOf(config);
    return { pending, view: accountView(account, { usage, pending, deps, builders, sandboxes, payouts, skill }) };
  }

  app.get(
    '/v1/account',
    {
      config: { operation: 'account.read', needs: 'any' },
      schema: { summary: 'Read the account', response: { 200: accountSchema } },
    },
    async ({ em, actor }) => (await read(em, await em.findOneOrFail(Account, actor.accountId))).view,
  );

  app.patch(
    '/v1/account',
    {
      config: { operation: 'account.change', needs: 'account' },
      schema: {
        summary: 'Change the account’s name or e-mail address',
        description: `We e-mail a confirmation link to the new address, which replaces the current one once it is confirmed. The current address
is notified. Sending the current address cancels a pending change.`,
        body: accountChange,
        response: { 200: accountChangedSchema },
      },
    },
    async ({ em, actor, body }) => {
      const { account, changed } = await changeAccount(em, deps, actor, body);
      const { pending, view } = await read(em, account);
      return {
        changed,
        pending: pending && { email: pending.email, expires_at: pending.expiresAt },
        account: view,
        ...(pending ? waiting(pending.email) : {}),
      };
    },
  );
}

function waiting(email: string) {
  return {
    status: 'pending' as const,
    next_action: `Tell the owner to open the link that we e-mailed to ${email}. After that, GET /v1/account returns the new address as email.`,
  };
}
