/** Which e-mails an owner gets. Those about the security of the account are always sent. */
import { type ActedBy, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { type ChosenMails, isChosen, type MailChoice, mailChoiceNames } from '#rules/mail-choices.ts';
import type { Clock } from '#runtime/clock.ts';
import { Account } from './account.ts';
import { lockAccount } from './lock.ts';

/** Whether the account's owner wants this e-mail. Ask in the transaction that queues it. */
export async function wantsMail(em: EntityManager, accountId: string, name: MailChoice): Promise<boolean> {
  return isChosen(name, await chosenMails(em, accountId));
}

/** What the owner has chosen; null if nothing yet. */
async function chosenMails(em: EntityManager, accountId: string): Promise<ChosenMails | null> {
  const [row] = await em.execute<{ chosen: ChosenMails | null }[]>(
    'select mail_choices as chosen from account where id = ?',
    [accountId],
  );
  return row?.chosen ?? null;
}

/** Switches on the e-mails in `wanted`, and the others off. Records only a change. */
export async function chooseMails(
  em: EntityManager,
  clock: Clock,
  actor: ActedBy,
  wanted: readonly MailChoice[],
): Promise<void> {
  await em.transactional(async (tx) => {
    await lockAccount(tx, actor.accountId);
    const account = await tx.findOneOrFail(Account, { id: actor.accountId }, { refresh: true });
    const before = account.mailChoices;
    const changed = mailChoiceNames.filter((name) => isChosen(name, before) !== wanted.includes(name));
    account.mailChoices = Object.fromEntries(mailChoiceNames.map((name) => [name, wanted.includes(name)]));
    if (changed.length === 0) return;
    const on = changed.filter((name) => wanted.includes(name));
    const off = changed.filter((name) => !wanted.includes(name));
    recordAct(tx, clock, actor, 'account.mails_chosen', { subject: account, detail: { on, off } });
  });
}
