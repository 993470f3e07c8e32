import type { Api } from '#api/api.ts';
import { payoutsOf } from '#api/payouts/account-view.ts';
import { skillOf } from '#api/skill/tree.ts';
import { Account } from '#db/accounts/account.ts';
import { hasBuilder, presentSandboxes } from '#db/deployments/builder-capacity.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import { undoPeriod } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { pendingChange } from './address-change.ts';
import { changeAccount, countUsage } from './rules.ts';
import { accountChange, accountChangedSchema, accountSchema, accountView, pendingView } from './schemas.ts';

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
        description: `Both addresses confirm a change with an e-mailed link and code, the current one first; \`pending.waiting_for\` says which is next.
The e-mails name the token that asked. Sending the current address cancels a pending change. For ${undoPeriod} the old address can undo a change, which also
revokes every token; until then, another change, changes of payout accounts and the power \`payouts\` for a token answer \`address_change_pending\`.`,
        body: accountChange,
        response: { 200: accountChangedSchema },
      },
    },
    async ({ em, actor, body }) => {
      const { account, changed } = await changeAccount(em, deps, actor, body);
      const { pending, view } = await read(em, account);
      return {
        changed,
        pending: pending && pendingView(pending),
        account: view,
        ...(pending ? waiting(pendingView(pending), account.email) : {}),
      };
    },
  );
}

function waiting({ email, waiting_for }: ReturnType<typeof pendingView>, current: string) {
  const first =
    waiting_for === 'old'
      ? `confirm the change from ${current} first, and then from ${email}`
      : `confirm the change from ${email}`;
  return {
    status: 'pending' as const,
    next_action: `Tell the owner to ${first}: we e-mail a link and a code to each. Do not ask for the codes. After that, ${call('account.read')} returns the new address as email.`,
  };
}
