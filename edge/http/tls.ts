/** TLS 1.2 and 1.3 with HTTP/2 or HTTP/1.1 (ALPN, RFC 7301). HTTP/1.1 uses the plain server and its fast path. */
import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '#runtime/clock.ts';
import type { EncryptionKeys } from '#runtime/encryption.ts';
import { type Certificates, tlsSettings } from './certificates.ts';
import type { CertificatesDatabase } from './certificates-database.ts';
import type { OnSent } from './fast-path.ts';
import { createHttp2 } from './http2.ts';
import type { RequestHandlers } from './node-http.ts';
import type { OpenLimits } from './open-bodies.ts';
import { bind } from './port-binding.ts';
import { applyVisitorAddress, type ProxyProtocolOptions, readProxyHeaders } from './proxy-protocol.ts';
import { rotateTicketKeys, sessionSeconds } from './ticket-keys.ts';

export type TlsOptions = {
  port: number;
  certificates: Pick<Certificates, 'contextOf'>;
  database: Pick<CertificatesDatabase, 'ticketKey'>;
  clock: Clock;
  log: Logger;
  encryptionKeys: EncryptionKeys;
  /** How long a handshake may take. */
  handshakeMs?: number;
};

type ListenContext = {
  host: string;
  sharesPort: boolean;
  handlers: RequestHandlers;
  /** Accepts a connection of HTTP/1.1. */
  acceptHttp1(socket: Socket): void;
  onSent: OnSent | undefined;
  closeWithinMs: number;
  stalledMs: number;
  proxyProtocol: ProxyProtocolOptions | undefined;
  /** How many streams of HTTP/2 are open at a time. */
  streams: OpenLimits['streams'];
};

const handshakeTimeoutMs = 10_000;

/** Listens on the port, or on a free one for 0. */
export async function listenTls(options: TlsOptions, within: ListenContext) {
  const http2 = createHttp2({ ...within, clock: options.clock, log: options.log });
  const server = createTlsServer(options);
  const from = within.proxyProtocol && readProxyHeaders(server, within.proxyProtocol, false);
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    // Unneeded, and costly for the server.
    socket.disableRenegotiation();
    if (from) applyVisitorAddress(from, socket);
    if (socket.alpnProtocol === 'h2') return http2.accept(socket);
    // Set only now: earlier, clients that disconnect during the handshake would linger until the time-out. So would the
    // streams of HTTP/2, which ends no connection by halves.
    socket.allowHalfOpen = true;
    within.acceptHttp1(socket);
  });
  // Aborted or malformed handshakes are not our error.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const tickets = rotateTicketKeys(server, options);
  await tickets.ready;
  const port = await bind(server, { host: within.host, port: options.port, sharesPort: within.sharesPort });
  return {
    port,
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

function createTlsServer({ certificates, handshakeMs = handshakeTimeoutMs }: TlsOptions): Server {
  return createServer({
    ...tlsSettings,
    honorCipherOrder: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    SNICallback: (servername, done) => selectContext(certificates, servername, done),
    handshakeTimeout: handshakeMs,
    sessionTimeout: sessionSeconds,
    // Equal in every process, because they accept each other's tickets.
    sessionIdContext: 'frontage edge',
    noDelay: true,
  });
}

type Done = (err: Error | null, context?: SecureContext) => void;

/** Fails the handshake without a certificate for the name: a browser would trust no page that we could send. */
function selectContext(certificates: Pick<Certificates, 'contextOf'>, servername: string, done: Done): void {
  certificates.contextOf(servername).then(
    (context) => (context ? done(null, context) : done(new Error('no certificate for this name'))),
    (error) => done(error),
  );
}
