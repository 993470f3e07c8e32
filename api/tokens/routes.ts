import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { bearerSecret } from '#api/plugins/bearer.ts';
import { idParams } from '#api/schemas.ts';
import { Token } from '#db/auth/token.ts';
import type { Deps } from '#runtime/deps.ts';
import { createToken, loadToken, renameToken, revokeToken, rotateToken } from './rules.ts';
import { newTokenSchema, revokedTokenSchema, tokenChange, tokenInput, tokenSchema, tokenView } from './schemas.ts';

/** The account's bearer tokens. */
export function tokenRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/tokens',
    {
      config: {
        operation: 'token.create',
        needs: 'new_token',
        makes: 'tok',
        recordsOnce: true,
        showsSecret: true,
        invalid: { scope: 'invalid_json' },
        replay: async (request, id) => ({
          ...tokenView(await loadToken(request.em, request.actor, id), request.actor),
          access_token: request.newSecret('fro'),
        }),
      },
      schema: {
        summary: 'Issue a token',
        description: 'The response contains the token in `access_token`. The token is shown only once.',
        body: tokenInput,
        response: { 200: newTokenSchema },
      },
    },
    async (request) => {
      const { name, expires_at, scope } = request.body;
      const secret = request.newSecret('fro');
      const input = {
        id: request.newId('tok'),
        secret,
        name,
        expiresAt: expires_at,
        scope,
      };
      const token = await createToken(request.em, deps, request.actor, input);
      return { ...tokenView(token, request.actor), access_token: secret };
    },
  );

  app.get(
    '/v1/tokens',
    {
      config: { operation: 'token.list', needs: 'any' },
      schema: { summary: 'List the tokens', querystring: pageQuery, response: { 200: listOf(tokenSchema) } },
    },
    async ({ em, actor, query }) => {
      const { rows, next_cursor } = await page(
        deps.config.secret,
        ['tokens', actor.accountId],
        query,
        newestFirst(em, Token, { account: actor.accountId, revokedAt: null }),
        byId,
      );
      return { items: rows.map((token) => tokenView(token, actor)), next_cursor };
    },
  );

  app.patch(
    '/v1/tokens/:id',
    {
      config: { operation: 'token.rename', needs: 'other_token' },
      schema: { summary: 'Rename a token', params: idParams, body: tokenChange, response: { 200: tokenSchema } },
    },
    async ({ em, actor, params, body }) =>
      tokenView(await renameToken(em, deps.clock, actor, params.id, body.name), actor),
  );

  app.post(
    '/v1/tokens/:id/rotate',
    {
      config: {
        operation: 'token.rotate',
        needs: 'account',
        showsSecret: true,
        replay: async (request, id) => ({
          ...tokenView(await loadToken(request.em, request.actor, id), request.actor),
          access_token: request.newSecret('fro'),
        }),
      },
      schema: {
        summary: 'Replace the secret of a token',
        description:
          'The old secret stops working at once, and open log streams and exports end; the token keeps its id, its expiry and what was made with it. A token can rotate itself and the tokens that were made with it. The response contains the new token in `access_token`, which is shown only once: if you rotate the token that you are using and lose the response, you need another token.',
        params: idParams,
        response: { 200: newTokenSchema },
      },
    },
    async (request) => {
      const secret = request.newSecret('fro');
      const secrets = { current: bearerSecret(request) ?? '', secret };
      const token = await rotateToken(request.em, deps.clock, request.actor, request.params.id, secrets);
      return { ...tokenView(token, request.actor), access_token: secret };
    },
  );

  app.delete(
    '/v1/tokens/:id',
    {
      config: { operation: 'token.revoke', needs: 'account' },
      schema: {
        summary: 'Revoke a token',
        description:
          'Takes effect at once. What was made with the token ends too: tokens, git credentials, upload links, review links, calendar feeds and links that connect a payout account. Revoking it again changes nothing.',
        params: idParams,
        response: { 200: revokedTokenSchema },
      },
    },
    async ({ em, actor, params }) => {
      const token = await revokeToken(em, deps.clock, actor, params.id);
      return { ...tokenView(token, actor), revoked_at: token.revokedAt ?? deps.clock.now() };
    },
  );
}
