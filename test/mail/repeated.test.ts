/** E-mails that the server accepted, but no worker recorded: they are sent again, and their rows say so. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { queueMail } from '#db/mail/queue.ts';
import { openProcesses } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

/** What happens after the server has accepted the e-mail to an address, before it replies. */
const beforeReply = new Map<string, () => Promise<'hang up' | undefined>>();
let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture({
    async taken([to = '']) {
      const act = beforeReply.get(to);
      beforeReply.delete(to);
      return await act?.();
    },
  });
}, 60_000);
afterAll(() => fixture?.close());

/** Queues an e-mail to a new address. */
async function queued(to: string) {
  const em = fixture.deps.em();
  const data = { hostname: 'x.sites.localhost', link: `${fixture.config.baseUrl}/invitations/x`, days: 14 };
  const { id } = queueMail(em, fixture.deps, { kind: 'invitation', to, data });
  await em.flush();
  const row = () => fixture.deps.em().findOneOrFail(Mail, { id });
  return {
    id,
    row,
    async requireRepeated(): Promise<void> {
      expect(await until(row, ({ status }) => status !== 'queued')).toMatchObject({ status: 'sent', unanswered: 1 });
      const copies = fixture.mailsTo(to).map(({ headers, text }) => [headers['message-id'], headers.date, text]);
      expect(copies).toEqual([copies[0], copies[0]]);
    },
  };
}

test('a mail whose reply was lost is sent again under one Message-ID', async () => {
  const to = 'hang-up@example.com';
  beforeReply.set(to, async () => 'hang up');
  const { id, requireRepeated } = await queued(to);
  await requireRepeated();
  const lines = fixture.logged.filter(({ mailId }) => mailId === id).map(({ msg }) => msg);
  const again = 'an e-mail is sent again, because it is unknown whether it was accepted';
  expect(lines).toEqual(['an e-mail could not be sent yet', again, 'an e-mail was sent']);
});

test('a worker killed before the reply repeats the mail, and its row says so', async () => {
  await fixture.stopWorker();
  const processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: fixture.config.mail?.url ?? '' });
  const to = 'kill@example.com';
  try {
    const worker = await processes.startWorker();
    const killed = new Promise<void>((done) => {
      beforeReply.set(to, async () => {
        await processes.killed(worker);
        done();
        return undefined;
      });
    });
    const { row, requireRepeated } = await queued(to);
    await killed;
    expect([fixture.mailsTo(to).length, await row()]).toMatchObject([1, { status: 'queued', unanswered: 1 }]);
    await processes.startWorker();
    await requireRepeated();
  } finally {
    processes.close();
  }
}, 120_000);
