/**
 * TLS on the edge (1.2 and 1.3), with HTTP/2 or HTTP/1.1 as the client wishes (ALPN, RFC 7301). A connection of HTTP/1.1 is given to the
 * plain server, short way and all; one of HTTP/2 to Node's.
 */
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type SecureContext, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '#runtime/clock.ts';
import type { EncryptionKeys } from '#runtime/encryption.ts';
import { type Certificates, tlsSettings } from './certificates.ts';
import type { CertificatesDatabase } from './certificates-database.ts';
import type { Sent } from './fast-path.ts';
import { openHttp2 } from './http2.ts';
import type { Answering } from './node-http.ts';
import { type FrontsOptions, knowFront, putFrontsFirst } from './proxy-protocol.ts';
import { keepTicketKeys, sessionSeconds } from './ticket-keys.ts';

export type TlsOptions = {
  port: number;
  certificates: Pick<Certificates, 'contextOf'>;
  database: Pick<CertificatesDatabase, 'ticketKey'>;
  clock: Clock;
  log: Logger;
  sealing: EncryptionKeys;
  /** How long a client may take to shake hands. */
  handshakeMs?: number;
};

type Within = {
  host: string;
  sharesPort: boolean;
  answering: Answering;
  /** Takes over a connection of HTTP/1.1. */
  speak(socket: Socket): void;
  sent: Sent | undefined;
  closeWithinMs: number;
  stalledMs: number;
  fronts: FrontsOptions | undefined;
};

const patienceMs = 10_000;

/** Answers on the port, or on a free one for 0. */
export async function listenTls(options: TlsOptions, within: Within) {
  const { certificates, port, handshakeMs = patienceMs } = options;
  const http2 = openHttp2(within.answering, within.sent, within.stalledMs);
  const server = createServer({
    ...tlsSettings,
    honorCipherOrder: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    SNICallback: (servername, done) => show(certificates, servername, done),
    handshakeTimeout: handshakeMs,
    sessionTimeout: sessionSeconds,
    // The same in every process, since they take each other's tickets.
    sessionIdContext: 'frontage edge',
    noDelay: true,
  });
  const from = within.fronts && putFrontsFirst(server, within.fronts, false);
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    // Who has asked may end their side. Before, it would keep those for the whole patience who leave within the handshake.
    socket.allowHalfOpen = true;
    // Nobody needs it, and it makes the server work.
    socket.disableRenegotiation();
    if (from) knowFront(from, socket);
    if (socket.alpnProtocol === 'h2') http2.take(socket);
    else within.speak(socket);
  });
  // Who breaks off a handshake, or shows what cannot be read, is no fault of ours.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const tickets = keepTicketKeys(server, options);
  await tickets.ready;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: within.host, port, backlog: 1024, reusePort: within.sharesPort }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      http2.end();
      const end = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, within.closeWithinMs);
      await Promise.all([closed, tickets.close()]);
      clearTimeout(end);
    },
  };
}

type Done = (err: Error | null, context?: SecureContext) => void;

/** Without a certificate for the name the handshake fails: no page can be shown that the visitor's browser would believe. */
function show(certificates: Pick<Certificates, 'contextOf'>, servername: string, done: Done): void {
  certificates.contextOf(servername).then(
    (context) => (context ? done(null, context) : done(new Error('no certificate for this name'))),
    (error) => done(error),
  );
}
