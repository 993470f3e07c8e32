/** Restoring a site in a signed-in browser: the page behind the mailed link, and its button. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSite, roleOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { accountButton, formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { noticePage } from '#web/pages/notice.ts';
import { siteRestorePage } from '#web/pages/site-restore.ts';
import { restoreSite } from './deletion.ts';

type Named = { Params: { id: string } };

/** All routes require a session. Opening the page restores nothing. */
export function sitePages(app: Api, deps: Deps): void {
  app.get<Named>('/account/sites/:id/restore', pageOptions('site.show_deletion', 'email_signin'), (request, reply) =>
    showDeletion(request, reply, deps),
  );

  accountButton(
    app,
    '/account/sites/:id/restore',
    pageOptions('site.restore_on_page', 'email_signin'),
    ({ em, actor, params }) => restoreSite(em, deps, actor, params.id),
  );
}

async function showDeletion(request: FastifyRequest<Named>, reply: FastifyReply, deps: Deps) {
  const { em, actor, params } = request;
  const site = await findSite(em, actor, params.id);
  if (!site || roleOf(site, actor) !== 'owner') return sendPage(reply, notFound, 404);
  if (!site.deleteAt) return sendPage(reply, restored);
  const form = formsFor(request, reply, deps);
  const action = `/account/sites/${site.id}/restore`;
  const hostname = siteHostname(deps.config, site.name);
  return sendPage(reply, siteRestorePage({ form, action, hostname, deleteAt: site.deleteAt }));
}

const toAccount = { href: '/account', text: 'Your account' };

const notFound = noticePage({
  title: 'We can’t find this website',
  text: 'It has been deleted for good, or it belongs to a different account. If it is yours, sign out and sign in with its owner’s address.',
  link: toAccount,
});

const restored = noticePage({
  title: 'This website is not being deleted',
  text: 'There is nothing to restore.',
  lit: true,
  link: toAccount,
});
