/** Workers that die while the mail server accepts an e-mail. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { queueMail } from '#db/mail/queue.ts';
import { openProcesses } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

/** What happens before the server's reply to an e-mail that it has accepted. */
const beforeReply = new Map<string, () => Promise<void>>();
let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture({
    async taken([to = '']) {
      await beforeReply.get(to)?.();
      return undefined;
    },
  });
  await fixture.stopWorker();
}, 60_000);
afterAll(() => fixture?.close());

test('a worker killed before the reply repeats the mail once, under one Message-ID, and counts it', async () => {
  const processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: fixture.config.mail?.url ?? '' });
  const to = 'guest@example.com';
  const em = () => fixture.deps.em();
  try {
    const worker = await processes.startWorker();
    const killed = new Promise<void>((done) => {
      beforeReply.set(to, async () => {
        beforeReply.delete(to);
        await processes.killed(worker);
        done();
      });
    });
    const tx = em();
    const data = { hostname: 'x.sites.localhost', link: `${fixture.config.baseUrl}/invitations/x`, days: 14 };
    const { id } = queueMail(tx, fixture.deps, { kind: 'invitation', to, data });
    await tx.flush();
    await killed;
    const row = () => em().findOneOrFail(Mail, { id });
    expect([fixture.mailsTo(to).length, await row()]).toMatchObject([1, { status: 'queued', unanswered: 1 }]);
    await processes.startWorker();
    expect(await until(row, ({ status }) => status !== 'queued')).toMatchObject({ status: 'sent', unanswered: 1 });
    const [first, second, ...others] = fixture.mailsTo(to);
    expect([second?.headers['message-id'], others]).toEqual([first?.headers['message-id'], []]);
    expect([second?.headers.date, second?.text]).toEqual([first?.headers.date, first?.text]);
  } finally {
    processes.close();
  }
}, 120_000);
