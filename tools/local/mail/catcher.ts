/** A mail server with a mailbox in the browser, for machines that must send no e-mail. */
import type { Clock } from '#runtime/clock.ts';
import { openMailbox } from './mailbox.ts';
import { type Faults, startSmtp } from './smtp.ts';
import { startMailboxPages } from './web.ts';

export type CatcherOptions = {
  /** Free ones by default. */
  ports?: { smtp: number; web: number };
  /** Where e-mails are stored; in memory by default. */
  folder?: string;
  /** Older ones are deleted; 1,000 by default. */
  keptMax?: number;
  faults?: Faults;
  clock: Clock;
};

export async function startMailCatcher(options: CatcherOptions) {
  const { ports = { smtp: 0, web: 0 }, folder, keptMax, faults = {}, clock } = options;
  const mailbox = openMailbox(folder, keptMax);
  const smtp = await startSmtp({ port: ports.smtp, mailbox, faults, clock });
  const web = await startMailboxPages({ port: ports.web, mailbox });
  return {
    smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    /** Serves `GET /messages?to=`. */
    url: `http://localhost:${web.port}`,
    /** Newest first. */
    messages: mailbox.list,
    async close() {
      await Promise.all([smtp.close(), web.close()]);
    },
  };
}
