/**
 * Certificates by the names that handshakes ask for (SNI, RFC 6066 section 3). One that was used is in memory, and costs no question; another
 * costs one. What changes is followed as sites are (see sites.ts), so that a new certificate is served within a second.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { contextOf } from '#db/encrypted-columns.ts';
import type { Notifications } from '#db/notifications.ts';
import { follow } from '#edge/routing/db-poller.ts';
import { certificateNameOf } from '#edge/routing/hosts.ts';
import { decrypt, type EncryptionKeys } from '#runtime/encryption.ts';
import type { CertificateRow, CertificatesDatabase, OwnCertificate } from './certificates-database.ts';

export type Certificates = {
  /** What to show for this name; undefined where there is nothing. Rejects when the database does not answer. */
  contextOf(servername: string): Promise<SecureContext | undefined>;
  /** Our own one, where it stands. */
  own(): OwnCertificate | undefined;
  ready: Promise<void>;
  close(): Promise<void>;
};

type Parts = {
  database: CertificatesDatabase;
  changes: Notifications;
  log: Logger;
  baseDomain: string;
  sealing: EncryptionKeys;
  /** Whether a site is served at this host, as far as the table of sites says. */
  isServed(host: string): boolean;
};

/** A context takes about 45 KiB, and a quarter of a millisecond to make. */
const contextsMax = 2_000;
const unknownMax = 20_000;
const unknownForMs = 10_000;
/** Names that may wait for the database at a time. Who asks for many that nobody has stands in nobody's way who visits a site. */
const waitingMax = { served: 500, others: 50 };

const hostname = /^(?=.{4,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Of the authority's certificates every one is ECDSA, by keys of ours. */
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

export function openCertificates({ database, changes, log, baseDomain, sealing, isServed }: Parts): Certificates {
  const unknown = new LRUCache<string, true>({ max: unknownMax, ttl: unknownForMs });
  const contexts = new LRUCache<string, SecureContext>({
    max: contextsMax,
    // A reader whose name changes while it reads still answers, and is not remembered.
    ignoreFetchAbort: true,
    fetchMethod: read,
  });
  /** Names that are being asked for; of those whose certificate may have changed meanwhile, the answer is not remembered. */
  const reading = new Set<{ name: string; isOld: boolean }>();
  let asked: { mark: string; server: string } | undefined;
  let own: OwnCertificate | undefined;

  async function read(name: string): Promise<SecureContext | undefined> {
    const isOurs = name.startsWith('*.') || isServed(name);
    if (reading.size >= (isOurs ? waitingMax.served : waitingMax.others))
      throw new Error('too many names wait to be looked up');
    const asked = { name, isOld: false };
    reading.add(asked);
    try {
      const row = await database.certificateOf(name);
      if (!row && !asked.isOld) unknown.set(name, true);
      return row && contextFrom(row, sealing);
    } finally {
      reading.delete(asked);
    }
  }

  function forget(name: string): void {
    contexts.delete(name);
    unknown.delete(name);
    for (const asked of reading) if (asked.name === name) asked.isOld = true;
  }

  async function ask(): Promise<void> {
    const answer = await database.changedSince(asked?.mark);
    // A mark that goes backwards, or another server: the database was put back from a copy, or lost its last transactions.
    if (asked && (answer.server !== asked.server || BigInt(answer.mark) < BigInt(asked.mark))) {
      contexts.clear();
      unknown.clear();
      for (const one of reading) one.isOld = true;
    }
    for (const name of answer.names) forget(name);
    own = answer.own;
    asked = { mark: answer.mark, server: answer.server };
  }

  const following = follow({ ask, canDoWithout: () => true, channel: 'certificate_changed', changes, log });

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
    ready: following.ready,
    close: following.close,
  };
}

function contextFrom({ id, chain, sealedKey }: CertificateRow, sealing: EncryptionKeys): SecureContext {
  const key = decrypt(sealing, sealedKey, contextOf.certificate(id));
  return createSecureContext({ ...tlsSettings, cert: chain, key });
}
