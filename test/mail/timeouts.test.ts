/** A mail server that takes connections and says nothing. */
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { MailNotSent, openMailer } from '#providers/mail.ts';

test('a silent mail server delays a few mails, and others are postponed at once', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  const mailer = openMailer({ url: `smtp://127.0.0.1:${port}`, from: 'hello@example.com' });
  const mail = {
    subject: 's',
    text: 't',
    html: 'h',
    messageId: 'm@example.com',
    date: new Date(0),
    to: 'a@example.com',
  };
  const sends = Array.from({ length: 100 }, () => mailer.send(mail));
  const ends = sends.map((send) => send.catch((error: unknown) => error));
  try {
    // Those in hand are answered when the server hangs up, and not before.
    const sentBack = ends.slice(25);
    for (const end of await Promise.all(sentBack)) {
      expect(end).toBeInstanceOf(MailNotSent);
      expect(end).toMatchObject({ outcome: 'later', message: expect.stringContaining('waiting for the mail server') });
    }
  } finally {
    server.close();
    const hangUp = setInterval(() => {
      for (const socket of sockets) socket.destroy();
    }, 20);
    await Promise.all(ends);
    clearInterval(hangUp);
    mailer.close();
  }
  await expect(mailer.send(mail)).rejects.not.toThrow('waiting for the mail server');
}, 30_000);
