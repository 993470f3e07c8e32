/** Sends mail over SMTP (RFC 5321). What the server says of itself stays here: callers hear what it means. */
import { createTransport } from 'nodemailer';
import type { WrittenMail } from '#web/mails/layout.ts';

/** `refused`: this mail will never be taken for this recipient. `later`: anything that another try may find mended. */
export class MailNotSent extends Error {
  readonly outcome: 'refused' | 'later';
  constructor(outcome: MailNotSent['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

export type OutgoingMail = WrittenMail & {
  /** Without angle brackets. The same at each try, so that a receiver can tell a mail that comes twice. */
  messageId: string;
  date: Date;
  to: string;
  replyTo?: string | undefined;
};

export type Mailer = {
  /** Returns when the server has taken the mail. Throws MailNotSent. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
};

const connectMs = 10_000;
const silenceMs = 30_000;
const connectionsMax = 5;
/**
 * Mails that are handed to the pool and not yet answered. A server that takes connections and says nothing must hold up its own mails, not
 * the process: what is beyond this is told at once to come again.
 */
const inHandMax = 25;

/**
 * A pool of connections to the server of `url` (`smtp://user:password@host:port` or `smtps:`), opened at the first mail. `smtp:` goes over
 * to TLS where the server offers it; `?requireTLS=true` refuses to go without.
 */
export function openMailer({ url, from }: { url: string; from: string }): Mailer {
  const server = new URL(url);
  const transport = createTransport(
    {
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: Number(server.port) || (server.protocol === 'smtps:' ? 465 : 587),
      secure: server.protocol === 'smtps:',
      requireTLS: server.searchParams.get('requireTLS') === 'true',
      ...(server.username
        ? { auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) } }
        : {}),
      pool: true,
      maxConnections: connectionsMax,
      // A connection that is lost in the middle of a mail: whether it was taken is for the caller to judge, not for the pool.
      maxRequeues: 0,
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as Parameters<typeof createTransport>[0],
    { from },
  );
  let inHand = 0;
  return {
    async send({ messageId, attachments = [], ...mail }) {
      if (inHand >= inHandMax) throw new MailNotSent('later', 'too many mails wait for the mail server');
      inHand += 1;
      try {
        await transport.sendMail({
          ...mail,
          attachments: [...attachments],
          messageId: `<${messageId}>`,
          headers: { 'auto-submitted': 'auto-generated' },
        });
      } catch (error) {
        throw translate(error as SmtpError);
      } finally {
        inHand -= 1;
      }
    },
    close: () => transport.close(),
  };
}

type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/**
 * A 5xx is for ever (RFC 5321 section 4.2.1), but only about the recipient or the mail itself: one about us, as a login that is not
 * taken, is for an operator to mend, and the mail waits for that.
 */
function translate({ code = 'error', command = '', responseCode = 0 }: SmtpError): MailNotSent {
  const aboutThisMail = command === 'RCPT TO' || command === 'DATA';
  if (responseCode >= 500 && aboutThisMail) {
    return new MailNotSent('refused', `the mail server of the address refused it (${responseCode})`);
  }
  return new MailNotSent('later', `the mail server did not take it (${responseCode || code})`);
}
