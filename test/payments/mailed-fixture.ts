/** A paying fixture whose e-mails arrive at a mail server. */
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '#runtime/clock.ts';
import { until } from '#test/stack/until.ts';
import { startWorker } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { createPayingFixture } from './fixture.ts';

export type MailedFixture = Awaited<ReturnType<typeof createMailedFixture>>;

/** The API, a worker, the stand-in for the provider, and a mail server. */
export async function createMailedFixture(env: Record<string, string> = {}) {
  const catcher = await startMailCatcher({ clock: systemClock });
  const fixture = await createPayingFixture({ FRONTAGE_SMTP_URL: catcher.smtpUrl, ...env });
  const worker = await startWorker(fixture.deps);
  return {
    ...fixture,
    /** What came to this address, newest first. */
    mailsTo: (to: string) => catcher.messages(to),
    /** The e-mail with this subject, when it has arrived. */
    async received(to: string, subject: string | RegExp) {
      const matching = () => catcher.messages(to).filter((mail) => mail.subject.match(subject));
      const [mail] = await until(matching, ({ length }) => length > 0);
      if (!mail) throw new Error('no e-mail');
      return mail;
    },
    async close() {
      await worker.close();
      await fixture.close();
      await catcher.close();
    },
  };
}

/** Opens such a fixture before the tests of a file, gives it to `take`, and closes it after them. */
export function useMailedFixture(take: (fixture: MailedFixture) => void, env: Record<string, string> = {}): void {
  let fixture: MailedFixture | undefined;
  beforeAll(async () => {
    fixture = await createMailedFixture(env);
    take(fixture);
  }, 60_000);
  afterAll(() => fixture?.close());
}
