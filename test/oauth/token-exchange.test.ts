/** The exchange of codes and refresh tokens, by callers that read the rows before. */
import { afterAll, expect, test } from 'vitest';
import { type Client, readClient } from '#api/oauth/clients.ts';
import { exchangeCode, refresh } from '#api/oauth/token-exchange.ts';
import { Account } from '#db/accounts/account.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { OauthRefresh } from '#db/auth/oauth-grant.ts';
import { Token } from '#db/auth/token.ts';
import { createOauthFixture } from './fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());
const { exchange, renew, approve } = fixture;

test('a use, a revocation and a block count although the rows were read before', async () => {
  const { deps } = fixture;
  const { browser, accountId } = await fixture.newSignedIn();
  const reader = async () => {
    const em = deps.em();
    for (const entity of [Account, Token, OauthRefresh]) await em.find(entity as typeof Token, {});
    return em;
  };
  const approved = async () => {
    const held = await approve(browser);
    return { ...held, client: readClient(fixture.config, held.clientId) as Client, redirectUri: undefined };
  };

  const used = await approved();
  const { refresh_token } = (await exchange(used)).body;
  const beforeUse = await reader();
  expect((await renew(used.clientId, refresh_token)).status).toBe(200);
  fixture.skip(61_000);
  await expect(refresh(beforeUse, deps, { ...used, token: refresh_token })).rejects.toThrow('used again');

  const revoked = await approved();
  const { refresh_token: token } = (await exchange(revoked)).body;
  const beforeRevocation = await reader();
  await deps.em().nativeUpdate(Token, { account: accountId }, { revokedAt: fixture.clock.now() });
  await expect(refresh(beforeRevocation, deps, { ...revoked, token })).rejects.toThrow('has revoked');

  const blocked = await approved();
  const beforeBlock = await reader();
  await blockAccount(deps.em(), deps, accountId, 'It sells what it has not.');
  await expect(exchangeCode(beforeBlock, deps, blocked)).rejects.toThrow('blocked');
});
