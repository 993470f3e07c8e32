/** The platform with a worker and a mail server of its own that a test can take away. */

import { systemClock } from '#runtime/clock.ts';
import { createFixture } from '#test/api/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import type { Faults } from '#tools/local/mail/smtp.ts';
import { freePort } from '#tools/local/ports.ts';

export async function createMailFixture(faults: Faults = {}, env: Record<string, string> = {}) {
  const ports = { smtp: await freePort(), web: await freePort() };
  const start = () => startMailCatcher({ ports, faults, clock: systemClock });
  let catcher = await start();
  const namespace = await createNamespace();
  const fixture = await createFixture({ FRONTAGE_SMTP_URL: catcher.smtpUrl, TEMPORAL_NAMESPACE: namespace, ...env });
  const worker = await startWorker(fixture.deps);
  let stopped: Promise<void> | undefined;
  const stopWorker = () => {
    stopped ??= worker.close();
    return stopped;
  };
  return {
    ...fixture,
    /** What came to this address, newest first. */
    mailsTo: (to: string) => catcher.messages(to),
    mailUrl: catcher.url,
    stopWorker,
    async stopMailServer() {
      await catcher.close();
    },
    async startMailServer() {
      catcher = await start();
    },
    async close() {
      await stopWorker();
      await fixture.close();
      await catcher.close();
    },
  };
}
export type MailFixture = Awaited<ReturnType<typeof createMailFixture>>;
