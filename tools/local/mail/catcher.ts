/** A mail server with a mailbox in the browser, for a machine that is to send nothing. */
import type { Clock } from '#runtime/clock.ts';
import { openMailbox } from './mailbox.ts';
import { type Faults, startSmtp } from './smtp.ts';
import { startMailboxPages } from './web.ts';

export type CatcherOptions = {
  /** Free ones where none are named. */
  ports?: { smtp: number; web: number };
  /** Where mails are kept; in memory where there is none. */
  folder?: string;
  faults?: Faults;
  clock: Clock;
};

export async function startMailCatcher({ ports = { smtp: 0, web: 0 }, folder, faults = {}, clock }: CatcherOptions) {
  const mailbox = openMailbox(folder);
  const smtp = await startSmtp({ port: ports.smtp, mailbox, faults, clock });
  const web = await startMailboxPages({ port: ports.web, mailbox });
  return {
    smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    /** Answers `GET /messages?to=`. */
    url: `http://localhost:${web.port}`,
    /** Newest first. */
    messages: mailbox.list,
    async close() {
      await Promise.all([smtp.close(), web.close()]);
    },
  };
}
