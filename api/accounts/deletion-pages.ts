/** Deleting the account in a signed-in browser, and restoring it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { endSession, restorePath } from '#api/plugins/session.ts';
import { Account } from '#db/accounts/account.ts';
import { deletionDelay } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, type ErrorCode } from '#runtime/errors.ts';
import { accountDeletionPage, accountRestorePage } from '#web/pages/account-deletion.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { day } from '#web/times.ts';
import { deleteAccount, mailDeletionCode, pendingOf, restoreAccount } from './deletion.ts';

/** All routes require a session. Opening a page does nothing. */
export function accountDeletionPages(app: Api, deps: Deps): void {
  app.get('/account/delete', pageOptions('account.show_deleting', 'email_signin'), (request, reply) =>
    show(request, reply, { sent: false }),
  );

  app.post('/account/delete', pageOptions('account.ask_to_delete', 'email_signin'), (request, reply) =>
    shown(request, reply, async () => {
      await mailDeletionCode(request.em, deps, request.actor);
      return show(request, reply, { sent: true });
    }),
  );

  app.post('/account/delete/confirm', pageOptions('account.delete', 'email_signin'), (request, reply) =>
    shown(request, reply, async () => {
      const typed = readForm(request).field('code') ?? '';
      const deleted = await deleteAccount(request.em, deps, request.actor, typed);
      if (deleted.outcome === 'deleted') {
        endSession(reply);
        return sendPage(reply, noticePage(deletedNotice(deleted.deleteAt)));
      }
      const { triesLeft } = deleted;
      const fault = triesLeft > 0 ? wrongCode(triesLeft, typed) : 'That was the last attempt. Ask for a new code.';
      return show(request, reply, { sent: triesLeft > 0, fault });
    }),
  );

  app.get(restorePath, pageOptions('account.show_deletion', 'email_signin'), async (request, reply) => {
    const { deleteAt } = await request.em.findOneOrFail(Account, request.actor.accountId);
    if (!deleteAt) return sendPage(reply, notDeleting);
    if (deleteAt <= deps.clock.now()) return sendPage(reply, tooLate, 410);
    return sendPage(reply, accountRestorePage({ form: formsFor(request, reply, deps), deleteAt }));
  });

  app.post(restorePath, pageOptions('account.restore', 'email_signin'), async (request, reply) => {
    await restoreAccount(request.em, deps, request.actor);
    return reply.redirect('/account', 303);
  });

  /** What the owner can do something about is said on the page. */
  async function shown(request: FastifyRequest, reply: FastifyReply, act: () => Promise<FastifyReply>) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof AppError && faults.includes(error.code))) throw error;
      return show(request, reply, { sent: false, fault: error.message, status: error.status });
    }
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { sent, fault, status = fault ? 400 : 200 }: { sent: boolean; fault?: string; status?: number },
  ) {
    const { email } = await request.em.fork().findOneOrFail(Account, request.actor.accountId);
    const pending = await pendingOf(request.em, deps, request.actor.accountId);
    const page = accountDeletionPage({ form: formsFor(request, reply, deps), email, pending, sent, fault });
    return sendPage(reply, page, status);
  }
}

const faults: readonly ErrorCode[] = ['rate_limited', 'address_change_pending', 'expired', 'site_archived'];

const toAccount = { href: '/account', text: 'Your account' };

const deletedNotice = (deleteAt: Date) => ({
  title: 'Your account is being deleted',
  text: `Its websites are offline. Until ${day(deleteAt)}, you can sign in and restore it.`,
  link: { href: '/signin', text: 'Sign in' },
});

const notDeleting = noticePage({
  title: 'Your account is not being deleted',
  text: 'There is nothing to restore.',
  lit: true,
  link: toAccount,
});

const tooLate = noticePage({
  title: 'Your account is being deleted for good',
  text: `Its ${deletionDelay} are over, so it can no longer be restored.`,
});
