/** A mail server with an inbox in the browser, for a machine that is to send nothing. */
import type { Clock } from '../../clock.ts';
import { openInbox } from './inbox.ts';
import { type Faults, startSmtp } from './smtp.ts';
import { startInboxPages } from './web.ts';

export type CatcherOptions = {
  /** Free ones where none are named. */
  ports?: { smtp: number; web: number };
  /** Where mails are kept; in memory where there is none. */
  folder?: string;
  faults?: Faults;
  clock: Clock;
};

export async function startMailCatcher({ ports = { smtp: 0, web: 0 }, folder, faults = {}, clock }: CatcherOptions) {
  const inbox = openInbox(folder);
  const smtp = await startSmtp({ port: ports.smtp, inbox, faults, clock });
  const web = await startInboxPages({ port: ports.web, inbox });
  return {
    smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
    /** Answers `GET /messages?to=`. */
    url: `http://localhost:${web.port}`,
    /** Newest first. */
    messages: inbox.list,
    async close() {
      await Promise.all([smtp.close(), web.close()]);
    },
  };
}
