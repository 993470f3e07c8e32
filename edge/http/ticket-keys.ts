/**
 * Keys of session tickets (RFC 8446 section 4.6.1), the same in all edge processes, so that a visitor who comes back needs no whole handshake
 * whichever of them answers. Each period has its own: a ticket of the last one is not taken any more, and its key is deleted.
 */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '#runtime/clock.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';
import type { CertificatesDatabase } from './certificates-database.ts';

const periodMs = 12 * 3600_000;
const lookEveryMs = 30_000;
const keyBytes = 48;

export const sessionSeconds = 6 * 3600;

type Parts = { database: Pick<CertificatesDatabase, 'ticketKey'>; clock: Clock; log: Logger; sealing: EncryptionKeys };

/** Gives the server the key of the present period, now and at each new one. Until the database answers it has one that no other knows. */
export function keepTicketKeys(server: Server, { database, clock, log, sealing }: Parts) {
  let present: number | undefined;
  let asking = Promise.resolve();

  async function look(): Promise<void> {
    const period = new Date(Math.floor(clock.now().getTime() / periodMs) * periodMs);
    if (period.getTime() === present) return;
    const context = `ticket-key:${period.toISOString()}`;
    try {
      const sealed = await database.ticketKey(period, encrypt(sealing, randomBytes(keyBytes), context));
      server.setTicketKeys(decrypt(sealing, sealed, context));
      present = period.getTime();
    } catch (err) {
      log.warn({ err }, 'the key of TLS tickets could not be read: visitors who come back need a whole handshake');
    }
  }

  const inTurn = () => {
    asking = asking.then(look);
    return asking;
  };
  const timer = setInterval(() => void inTurn(), lookEveryMs).unref();
  return {
    ready: inTurn(),
    async close() {
      clearInterval(timer);
      await asking;
    },
  };
}
