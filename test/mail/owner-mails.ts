/** The e-mails that the schedule `mail-owners` queues, for tests of each of them. */
import { randomUUID } from 'node:crypto';
import { Mail } from '#db/mail/mail.ts';
import { queues } from '#rules/workflow-ids.ts';
import type { Fixture } from '#test/api/fixture.ts';
import { until } from '#test/stack/until.ts';
import type { MailKind } from '#web/mails/mails.ts';

type Parts = Pick<Fixture, 'deps'>;

/** One run of the schedule's workflow. */
export async function mailOwners({ deps }: Parts, { isAwaited = true } = {}): Promise<void> {
  const workflowId = `run:${randomUUID()}`;
  const run = await deps.temporal.workflow.start('mailOwners', { workflowId, taskQueue: queues.platform, args: [] });
  if (isAwaited) await run.result();
}

/** How many of a kind were queued, sent or not. */
export const queuedMails = ({ deps }: Parts, kind: MailKind, whose: { siteId: string } | { accountId: string }) =>
  deps.em().count(Mail, { kind, ...whose });

/**
 * Holds back every transaction that queues an e-mail until `act` ends. `stalled` waits for one that has changed its
 * rows and now queues, and returns the process of the database that serves it.
 */
export async function stalledAtQueue(
  { deps }: Parts,
  act: (stalled: () => Promise<number>) => Promise<void>,
): Promise<void> {
  await deps.em().transactional(async (tx) => {
    await tx.execute('lock table mail in share mode');
    const waiting = () =>
      deps.em().execute<{ pid: number }[]>(
        // Earlier e-mails, which are being sent meanwhile, wait as well.
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like 'insert into "mail" %'`,
      );
    await act(async () => (await until(waiting, ({ length }) => length > 0))[0]?.pid ?? 0);
  });
}
