/** Sends mail over SMTP (RFC 5321). Callers get the meaning of a response, never its text. */
import { Transform } from 'node:stream';
import type { SendMailOptions } from 'nodemailer';
import type { WrittenMail } from '#web/mails/layout.ts';

/**
 * `refused`: this mail will never be accepted for this recipient. `later`: a retry may succeed. `unknown`: the server had
 * the whole mail, and the connection ended before its reply; it may have accepted the mail.
 */
export class MailNotSent extends Error {
  readonly outcome: 'refused' | 'later' | 'unknown';
  constructor(outcome: MailNotSent['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

export type OutgoingMail = WrittenMail & {
  /** Without angle brackets. The same for each attempt, so that a receiver can detect a duplicate. */
  messageId: string;
  date: Date;
  to: string;
  replyTo?: string | undefined;
  /** Called before the last byte is sent. A fault in it abandons the attempt, and the server discards the mail. */
  beforeEnd?: () => Promise<void>;
};

export type Mailer = {
  /** Returns when the server has accepted the mail. Throws MailNotSent. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
};

const connectMs = 10_000;
const silenceMs = 30_000;
const connectionsMax = 5;
/**
 * Mails in the pool that have no response yet. A server that accepts connections and never responds must delay its own
 * mails, not the process: mails beyond this limit fail at once with `later`.
 */
const inHandMax = 25;

/**
 * A mailer with a pool of connections to the server of `url` (`smtp://user:password@host:port` or `smtps:`), opened at the
 * first mail. The sender of a mail about a website is `"<hostname> via <name in from>"`.
 */
export function openMailer(options: { url: string; from: string }): Mailer {
  let opened: ReturnType<typeof connect> | undefined;
  let inHand = 0;
  return {
    async send({ messageId, hostname, attachments = [], beforeEnd, ...mail }) {
      if (inHand >= inHandMax) throw new MailNotSent('later', 'too many e-mails are waiting for the mail server');
      inHand += 1;
      let isHandedOver = false;
      try {
        opened ??= connect(options);
        const { transport, sender } = await opened;
        const product = sender?.name || 'Frontage';
        await transport.sendMail({
          ...mail,
          ...(hostname && sender ? { from: { name: `${hostname} via ${product}`, address: sender.address } } : {}),
          attachments: [...attachments],
          messageId: `<${messageId}>`,
          headers: { 'auto-submitted': 'auto-generated' },
          async beforeEnd() {
            await beforeEnd?.();
            isHandedOver = true;
          },
        } as SendMailOptions);
      } catch (error) {
        throw translate(error as SmtpError, isHandedOver);
      } finally {
        inHand -= 1;
      }
    },
    close: () => void opened?.then(({ transport }) => transport.close()),
  };
}

/**
 * Most processes send no mail, so the package is loaded here. `smtp:` upgrades to TLS if the server offers it;
 * `?requireTLS=true` refuses to send without.
 */
async function connect({ url, from }: { url: string; from: string }) {
  const [{ createTransport }, { default: addressparser }] = await Promise.all([
    import('nodemailer'),
    import('nodemailer/lib/addressparser'),
  ]);
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
      // If a connection is lost in the middle of a mail, the caller decides whether it was accepted, not the pool.
      maxRequeues: 0,
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as Parameters<typeof createTransport>[0],
    { from },
  );
  transport.use('stream', ({ message, data }, done) => {
    message.transform(() => endingWith((data as Partial<OutgoingMail>).beforeEnd));
    done();
  });
  return { transport, sender: addressparser(from, { flatten: true })[0] };
}

/** A stream that passes the mail on, and waits before its end. */
function endingWith(beforeEnd: () => Promise<void> = async () => {}): Transform {
  return new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => void beforeEnd().then(() => done(), done),
  });
}

type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/**
 * A 5xx is permanent (RFC 5321 section 4.2.1), but only if it is about the recipient or the mail itself. One about us,
 * such as a rejected login, is for an operator to fix, and the mail waits for that.
 */
function translate({ code = 'error', command = '', responseCode = 0 }: SmtpError, isHandedOver: boolean): MailNotSent {
  if (isHandedOver && responseCode === 0) {
    return new MailNotSent('unknown', `the mail server did not say whether it accepted the e-mail (${code})`);
  }
  const aboutThisMail = command === 'RCPT TO' || command === 'DATA';
  if (responseCode >= 500 && aboutThisMail) {
    return new MailNotSent('refused', `the recipient’s mail server refused the e-mail (${responseCode})`);
  }
  return new MailNotSent('later', `the mail server did not accept the e-mail (${responseCode || code})`);
}
