/** Agents and programs with access to the account. */
import { calendarFeedsShown } from '#api/calendar-feeds/pages.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { gitPasswordsShown } from '#api/source/pages.ts';
import { revokeToken, usableTokens } from '#api/tokens/rules.ts';
import { renewableTokenIds } from '#db/auth/oauth-expiry.ts';
import { Token } from '#db/auth/token.ts';
import { agentsPage } from '#web/console/agents.ts';
import { type Console, consolePage, frameOf } from './frame.ts';
import { accountButton } from './notices.ts';

export function agentPages({ app, deps }: Console): void {
  app.get('/account/agents', consolePage('agents'), async (request, reply) => {
    const { em, actor } = request;
    const now = deps.clock.now();
    // An OAuth client renews its hourly access token, so that token's expiry is not the end of its access.
    const renewable = await renewableTokenIds(em, actor.accountId, now);
    const tokens = await em.find(Token, await usableTokens(em, actor.accountId, now), { orderBy: { id: 'desc' } });
    const page = {
      tokens: tokens.map((token) => ({
        ...token,
        lastUsedAt: token.lastUsedAt ?? null,
        expiresAt: renewable.includes(token.id) ? null : (token.expiresAt ?? null),
      })),
      gitPasswords: await gitPasswordsShown(em, deps, actor),
      calendarFeeds: await calendarFeedsShown(em, deps, actor),
    };
    return sendPage(reply, agentsPage(frameOf(request, reply, deps), page));
  });

  accountButton(app, deps, {
    path: '/account/tokens/:id/revoke',
    options: pageOptions('token.revoke_on_page', 'email_signin'),
    act: ({ em, actor, params }) => revokeToken(em, deps.clock, actor, params.id),
    to: '/account/agents',
    notice: 'Revoked. It has no access any more, and neither has what was made with it.',
  });
}
