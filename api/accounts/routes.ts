import { Account } from '../../db/entities/account.ts';
import type { Deps } from '../../deps.ts';
import type { Api } from '../api.ts';
import { countUsage } from './rules.ts';
import { accountSchema, accountView } from './schemas.ts';

/** The account behind the token. */
export function accountRoutes(app: Api, { clock, config }: Deps): void {
  app.get(
    '/v1/account',
    {
      config: { operation: 'account.read' },
      schema: { summary: 'Read the account', response: { 200: accountSchema } },
    },
    async ({ em, actor }) => {
      const account = await em.findOneOrFail(Account, actor.accountId);
      return accountView(account, await countUsage(em, clock, account.id), config);
    },
  );
}
