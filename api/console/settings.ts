/** The account's own settings: address, e-mails, domains, plan, deletion. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pendingChange, waitingFor } from '#api/accounts/address-change.ts';
import { sessionsOf, signOutOthers } from '#api/auth/sessions.ts';
import { planShown } from '#api/billing/pages.ts';
import { domainsShown } from '#api/domains/pages.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { presentSandboxes } from '#db/deployments/builder-capacity.ts';
import { Site } from '#db/sites/site.ts';
import type { Refused } from '#web/console/frame.ts';
import { settingsPage } from '#web/console/settings.ts';
import { action } from './actions.ts';
import { type Console, consolePage, frameOf, sessionAccount } from './frame.ts';
import { redirectWithNotice } from './notices.ts';

const path = '/account/settings';

export function settingPages(console: Console): void {
  const { app, deps } = console;
  app.get(path, consolePage('settings'), (request, reply) => show(request, reply, null));

  action(console, {
    path: '/account/address',
    operation: 'account.change',
    input: (request, { field }) => ({
      email: field('answer') === 'withdraw' ? sessionAccount(request).email : (field('email') ?? ''),
    }),
    done: (_answer, _request, { field }) => ({
      to: path,
      notice:
        field('answer') === 'withdraw'
          ? 'The change is cancelled.'
          : 'Now confirm the change with the e-mail that we sent.',
    }),
    show,
  });

  action(console, {
    path: `${path}/name`,
    operation: 'account.change',
    input: (_request, { field }) => ({ name: field('name') ?? '' }),
    done: () => ({ to: path, notice: 'The name is saved.' }),
    show,
  });

  app.post(`${path}/sign-out`, pageOptions('signin.end_others', 'email_signin'), async (request, reply) => {
    await signOutOthers(request.em, request.actor);
    return redirectWithNotice(reply, path, 'You are signed out in all other browsers.', deps.clock.now());
  });

  async function show(request: FastifyRequest, reply: FastifyReply, refused: Refused | null) {
    const { em, actor } = request;
    const pending = await pendingChange(em, deps.clock.now(), actor.accountId);
    const sessions = await sessionsOf(em, deps.clock, actor);
    const page = {
      sessions: sessions.map(({ id, createdAt }) => ({ createdAt, isThis: id === actor.tokenId })),
      pending: pending && { email: pending.email, waitingFor: waitingFor(pending), expiresAt: pending.expiresAt },
      domains: await domainsShown(em, deps, actor),
      plan: await planShown(em, deps, actor),
      sites: await em.find(Site, { account: actor.accountId, deleteAt: null }, { orderBy: { id: 'desc' } }),
      sandboxes: await presentSandboxes(em, deps.clock),
    };
    return sendPage(reply, settingsPage(frameOf(request, reply, deps, refused), page), refused?.status);
  }
}
