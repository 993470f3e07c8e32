/** A mail server that takes everything and passes nothing on. A test may tell it what to refuse. */
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { Clock } from '#runtime/clock.ts';
import type { Mailbox } from './mailbox.ts';

/** A reply code of RFC 5321 that refuses: 4xx for now, 5xx for ever. */
export type Reply = number;

export type Faults = {
  /** Refuses an address. */
  recipient?: (address: string) => Reply | undefined;
  /** Asked when the whole mail is here, before it is taken. */
  data?: (to: string[]) => Promise<Reply | undefined> | Reply | undefined;
  /** Asked when the mail is taken, before that is said: `'hang up'` breaks the connection instead. */
  taken?: (to: string[]) => 'hang up' | undefined;
};

export type SmtpOptions = { port: number; mailbox: Mailbox; faults?: Faults; clock: Clock };

export async function startSmtp({ port, mailbox, faults = {}, clock }: SmtpOptions) {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    hideSTARTTLS: true,
    logger: false,
    closeTimeout: 200,
    onRcptTo: ({ address }, _session, done) => done(refusal(faults.recipient?.(address))),
    onData(stream, session, done) {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const take = async () => {
        const raw = await buffer(stream);
        const reply = await faults.data?.(to);
        if (reply !== undefined) return done(refusal(reply));
        await mailbox.add(raw, to, clock.now());
        if (faults.taken?.(to) !== 'hang up') return done();
        for (const connection of server.connections) {
          if ((connection as unknown as { session: typeof session }).session === session) connection.close();
        }
      };
      take().catch(done);
    },
  });
  // A client that breaks off is none of our concern.
  server.on('error', () => {});
  await new Promise<void>((listening, failed) => {
    server.server.once('error', failed);
    server.listen(port, '127.0.0.1', () => listening());
  });
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () => new Promise<void>((closed) => server.close(() => closed())),
  };
}

function refusal(reply: Reply | undefined): (Error & { responseCode: number }) | undefined {
  return reply === undefined ? undefined : Object.assign(new Error('refused on purpose'), { responseCode: reply });
}
