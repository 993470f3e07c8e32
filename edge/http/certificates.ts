/**
 * Certificates by the names of handshakes (SNI, RFC 6066 section 3). Used ones are in memory; any other costs one query. Changes are
 * polled as those of sites (see sites.ts), so a new certificate is served within a second.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { contextOf } from '#db/encrypted-columns.ts';
import type { Notifications } from '#db/notifications.ts';
import { startPoller } from '#edge/routing/db-poller.ts';
import { certificateNameOf } from '#edge/routing/hosts.ts';
import { decrypt, type EncryptionKeys } from '#runtime/encryption.ts';
import type { CertificateRow, CertificatesDatabase, OwnCertificate } from './certificates-database.ts';

export type Certificates = {
  /** The certificate of this name; undefined if there is none. Rejects if the database does not respond. */
  contextOf(servername: string): Promise<SecureContext | undefined>;
  /** The platform's own certificate, if issued. */
  own(): OwnCertificate | undefined;
  ready: Promise<void>;
  close(): Promise<void>;
};

type Parts = {
  database: CertificatesDatabase;
  notifications: Notifications;
  log: Logger;
  baseDomain: string;
  encryptionKeys: EncryptionKeys;
  /** Whether the site table has this host. */
  isServed(host: string): boolean;
};

/** A context takes about 45 KiB, and a quarter of a millisecond to create. */
const contextsMax = 2_000;
const unknownMax = 20_000;
const unknownForMs = 10_000;
/** Limits of concurrent queries. Requests for many unknown names must not block visitors of sites. */
const waitingMax = { served: 500, others: 50 };

const hostname = /^(?=.{4,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** All our certificates are ECDSA. */
export const tlsSettings = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
  ].join(':'),
  ecdhCurve: 'X25519MLKEM768:X25519:prime256v1:secp384r1',
  sigalgs: 'ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512',
} as const;

export function openCertificates({
  database,
  notifications,
  log,
  baseDomain,
  encryptionKeys,
  isServed,
}: Parts): Certificates {
  const unknown = new LRUCache<string, true>({ max: unknownMax, ttl: unknownForMs });
  const contexts = new LRUCache<string, SecureContext>({
    max: contextsMax,
    // A query whose name changes meanwhile still returns its result, which is not cached.
    ignoreFetchAbort: true,
    fetchMethod: read,
  });
  /** Running queries. Results of those marked old are not cached: the certificate may have changed meanwhile. */
  const reading = new Set<{ name: string; isOld: boolean }>();
  let asked: { mark: string; server: string } | undefined;
  let own: OwnCertificate | undefined;

  async function read(name: string): Promise<SecureContext | undefined> {
    const isOurs = name.startsWith('*.') || isServed(name);
    if (reading.size >= (isOurs ? waitingMax.served : waitingMax.others))
      throw new Error('too many certificate lookups are pending');
    const asked = { name, isOld: false };
    reading.add(asked);
    try {
      const row = await database.certificateOf(name);
      if (!row && !asked.isOld) unknown.set(name, true);
      return row && contextFrom(row, encryptionKeys);
    } finally {
      reading.delete(asked);
    }
  }

  function forget(name: string): void {
    contexts.delete(name);
    unknown.delete(name);
    for (const asked of reading) if (asked.name === name) asked.isOld = true;
  }

  async function poll(): Promise<void> {
    const answer = await database.changedSince(asked?.mark);
    // A mark that goes backwards, or another server: the database was restored, or lost its last transactions.
    if (asked && (answer.server !== asked.server || BigInt(answer.mark) < BigInt(asked.mark))) {
      contexts.clear();
      unknown.clear();
      for (const one of reading) one.isOld = true;
    }
    for (const name of answer.names) forget(name);
    own = answer.own;
    asked = { mark: answer.mark, server: answer.server };
  }

  const poller = startPoller({ poll, hasFallback: () => true, channel: 'certificate_changed', notifications, log });

  return {
    async contextOf(servername) {
      const host = servername.toLowerCase();
      const name = certificateNameOf(host, baseDomain);
      const known = contexts.get(name);
      if (known) return known;
      if (unknown.has(name) || !hostname.test(host)) return undefined;
      return await contexts.fetch(name);
    },
    own: () => own,
    ready: poller.ready,
    close: poller.close,
  };
}

function contextFrom({ id, chain, sealedKey }: CertificateRow, keys: EncryptionKeys): SecureContext {
  const key = decrypt(keys, sealedKey, contextOf.certificate(id));
  return createSecureContext({ ...tlsSettings, cert: chain, key });
}
