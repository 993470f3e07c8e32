/**
 * Keys of TLS session tickets (RFC 8446 section 4.6.1). All edge processes share them, so that returning visitors resume with any of them.
 * Each period has its own key: tickets of the previous period are rejected, and their key is deleted.
 */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:tls';
import type { Logger } from 'pino';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';
import type { CertificatesDatabase } from './certificates-database.ts';

const periodMs = 12 * hourMs;
const checkEveryMs = 30_000;
const keyBytes = 48;

export const sessionSeconds = 6 * 3600;

type Parts = {
  database: Pick<CertificatesDatabase, 'ticketKey'>;
  clock: Clock;
  log: Logger;
  encryptionKeys: EncryptionKeys;
};

/** Sets the current period's key, now and at each new period. Until the database responds, the server uses a key of its own. */
export function rotateTicketKeys(server: Server, { database, clock, log, encryptionKeys }: Parts) {
  let currentPeriod: number | undefined;
  let refreshing = Promise.resolve();

  async function refresh(): Promise<void> {
    const period = new Date(Math.floor(clock.now().getTime() / periodMs) * periodMs);
    if (period.getTime() === currentPeriod) return;
    const context = `ticket-key:${period.toISOString()}`;
    try {
      const sealed = await database.ticketKey(period, encrypt(encryptionKeys, randomBytes(keyBytes), context));
      server.setTicketKeys(decrypt(encryptionKeys, sealed, context));
      currentPeriod = period.getTime();
    } catch (err) {
      log.warn({ err }, 'the TLS ticket key could not be read, so returning visitors need a full handshake');
    }
  }

  const queueRefresh = () => {
    refreshing = refreshing.then(refresh);
    return refreshing;
  };
  const timer = setInterval(() => void queueRefresh(), checkEveryMs).unref();
  return {
    ready: queueRefresh(),
    async close() {
      clearInterval(timer);
      await refreshing;
    },
  };
}
