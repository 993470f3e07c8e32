/** A mail server that accepts every e-mail and relays none. A test can make it refuse some. */
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { Clock } from '#runtime/clock.ts';
import type { Mailbox } from './mailbox.ts';

/** A refusing reply code (RFC 5321): 4xx is temporary, 5xx permanent. */
export type Reply = number;

export type Faults = {
  /** Called for each recipient. */
  recipient?: (address: string) => Reply | undefined;
  /** Called after the whole e-mail has arrived, before it is stored. */
  data?: (to: string[]) => Promise<Reply | undefined> | Reply | undefined;
  /** Called after the e-mail is stored, before the reply: `'hang up'` closes the connection instead. */
  taken?: (to: string[]) => Promise<'hang up' | undefined> | 'hang up' | undefined;
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
      const receive = async () => {
        const raw = await buffer(stream);
        const reply = await faults.data?.(to);
        if (reply !== undefined) return done(refusal(reply));
        await mailbox.add(raw, to, clock.now());
        if ((await faults.taken?.(to)) !== 'hang up') return done();
        for (const connection of server.connections) {
          if ((connection as unknown as { session: typeof session }).session === session) connection.close();
        }
      };
      receive().catch(done);
    },
  });
  // Clients may disconnect at any time.
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
