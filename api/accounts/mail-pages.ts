/** The page on which an owner chooses their e-mails. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { Account } from '#db/accounts/account.ts';
import { chooseMails } from '#db/accounts/mail-choices.ts';
import { isChosen, mailChoiceNames } from '#rules/mail-choices.ts';
import type { Deps } from '#runtime/deps.ts';
import { mailChoicesPath } from '#runtime/owner-pages.ts';
import { mailChoicesPage } from '#web/pages/owner/mail-choices.ts';

/** Both routes require a session. No token chooses: an agent could switch off what tells its owner about it. */
export function mailChoicePages(app: Api, deps: Deps): void {
  app.get(mailChoicesPath, pageOptions('account.show_mails', 'email_signin'), (request, reply) =>
    show(request, reply, { saved: false }),
  );

  app.post(mailChoicesPath, pageOptions('account.choose_mails', 'email_signin'), async (request, reply) => {
    const ticked = readForm(request).all('mail');
    const wanted = mailChoiceNames.filter((name) => ticked.includes(name));
    await chooseMails(request.em, deps.clock, request.actor, wanted);
    return show(request, reply, { saved: true });
  });

  async function show(request: FastifyRequest, reply: FastifyReply, { saved }: { saved: boolean }) {
    const { email, mailChoices } = await request.em.fork().findOneOrFail(Account, request.actor.accountId);
    const chosen = mailChoiceNames.filter((name) => isChosen(name, mailChoices));
    return sendPage(reply, mailChoicesPage({ form: formsFor(request, reply, deps), email, chosen, saved }));
  }
}
