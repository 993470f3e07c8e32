import type { Api } from '#api/api.ts';
import { readEmail } from '#api/email-addresses.ts';
import { idParams } from '#api/schemas.ts';
import { tokenView } from '#api/tokens/schemas.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { askForAccess, intervalSeconds, redeem } from './requests.ts';
import { accessRequestInput, accessRequestSchema, redeemedSchema, redeemInput } from './schemas.ts';

/** How an agent gets its first token: it requests access, the owner approves, the agent redeems. */
export function authRoutes(app: Api, deps: Deps): void {
  const pollNext = (id: string) =>
    `Call ${call('access.redeem', { id })} with the secret every ${intervalSeconds} seconds until the request is approved.`;

  const where = (mailed: boolean) =>
    mailed
      ? 'open the link in the e-mail'
      : `sign in at ${deps.config.baseUrl}/account and enter it there, because this address has received too many e-mails in the last hour`;

  app.post(
    '/v1/auth/requests',
    {
      config: {
        operation: 'access.request',
        capability: 'email_signin',
        invalid: { agent_name: 'invalid_name', account_name: 'invalid_name' },
      },
      schema: {
        summary: 'Request access from an owner',
        description: `E-mails the owner a link to a page where they approve the request with the \`user_code\` that you show them, or refuse it. The response is
the same whether or not the address has an account. Several requests may be open for one address. An address that has received 20 of these
e-mails within an hour gets no more of them; its owner finds the request on their account page.`,
        security: [],
        body: accessRequestInput,
        response: { 200: accessRequestSchema },
      },
    },
    async ({ em, body, ip }) => {
      const { request, secret, userCode } = await askForAccess(em, deps, {
        email: readEmail(body.email),
        agentName: body.agent_name,
        accountName: body.account_name,
        askedFrom: ip,
      });
      return {
        id: request.id,
        status: 'pending' as const,
        user_code: userCode,
        secret,
        interval_seconds: intervalSeconds,
        expires_at: request.expiresAt,
        next_action: `Show the owner the code ${userCode}, and tell them to ${where(request.mailed)}. ${pollNext(request.id)}`,
      };
    },
  );

  app.post(
    '/v1/auth/requests/:id/redeem',
    {
      config: { operation: 'access.redeem', capability: 'email_signin' },
      schema: {
        summary: 'Redeem an access request',
        description:
          'Returns `pending` until the owner has answered, then returns the token once. No Idempotency-Key is needed.',
        security: [],
        params: idParams,
        body: redeemInput,
        response: { 200: redeemedSchema },
      },
    },
    async ({ em, params: { id }, body }) => {
      const redeemed = await redeem(em, deps, id, body.secret);
      if (redeemed.status === 'approved') {
        const { accessToken, token } = redeemed;
        const view = tokenView(token, { tokenId: token.id });
        return { id, status: 'approved' as const, access_token: accessToken, token: view };
      }
      return {
        id,
        status: 'pending' as const,
        interval_seconds: intervalSeconds,
        expires_at: redeemed.expiresAt,
        next_action: `The owner has not answered yet. ${pollNext(id)}`,
      };
    },
  );
}
