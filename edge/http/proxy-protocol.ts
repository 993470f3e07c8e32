/**
 * The PROXY protocol: connections of trusted proxies begin with a header that contains the visitor's address (proxy-header.ts), before TLS.
 * Trusted proxies must send it; from anyone else it is a bad request. Nothing of this runs without trusted proxies.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { readProxyHeader } from './proxy-header.ts';

type Take = (socket: Socket) => void;

export type ProxyProtocolOptions = {
  /** Addresses and networks of trusted proxies. */
  trusted: readonly string[];
  /** How long the header may take. */
  headerMs?: number;
};

const headerTimeoutMs = 5_000;
/** Visitors' addresses by the address and port of the proxy's end, which is all that the TLS socket knows. */
type VisitorAddresses = Map<string, string>;

/**
 * Reads PROXY headers before the server's present connection listeners. `resumes`: whether the socket must be resumed for them; TLS
 * does so by itself.
 */
export function readProxyHeaders(
  server: EventEmitter,
  options: ProxyProtocolOptions,
  resumes: boolean,
): VisitorAddresses {
  const { trusted, headerMs = headerTimeoutMs } = options;
  const isTrusted = proxyAddress.compile([...trusted]);
  const addresses: VisitorAddresses = new Map();
  const listeners = server.listeners('connection') as Take[];
  server.removeAllListeners('connection');

  function passOn(socket: Socket): void {
    for (const listener of listeners) listener.call(server, socket);
    if (resumes) socket.resume();
  }

  server.on('connection', (socket: Socket) => {
    // A connection that is already closed has no address.
    if (socket.remoteAddress === undefined) socket.destroy();
    else if (!isTrusted(socket.remoteAddress, 0)) for (const listener of listeners) listener.call(server, socket);
    else
      readHeader(socket, headerMs, (address) => {
        if (address !== undefined) remember(addresses, socket, address);
        passOn(socket);
      });
  });
  return addresses;
}

/** Sets the address from the header on the TLS socket. */
export function applyVisitorAddress(addresses: VisitorAddresses, socket: Socket): void {
  const address = addresses.get(remoteEnd(socket));
  if (address !== undefined) setRemoteAddress(socket, address);
}

function remember(addresses: VisitorAddresses, socket: Socket, address: string): void {
  const end = remoteEnd(socket);
  addresses.set(end, address);
  socket.once('close', () => addresses.delete(end));
  setRemoteAddress(socket, address);
}

const remoteEnd = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

function setRemoteAddress(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true });
}

function readHeader(socket: Socket, headerMs: number, then: (address: string | undefined) => void): void {
  let received: Buffer = Buffer.alloc(0);
  const reject = () => void socket.destroy();
  const timer = setTimeout(reject, headerMs);

  function stopReading(): void {
    clearTimeout(timer);
    socket.off('data', onData);
    socket.off('end', reject);
    socket.off('error', reject);
    socket.off('close', stopReading);
  }

  function onData(chunk: Buffer): void {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const header = readProxyHeader(received);
    if (header.status === 'incomplete') return;
    stopReading();
    if (header.status === 'invalid') reject();
    else {
      socket.pause();
      if (received.length > header.bytes) socket.unshift(received.subarray(header.bytes));
      then(header.address);
    }
  }

  socket.on('data', onData);
  socket.on('end', reject);
  socket.on('error', reject);
  socket.on('close', stopReading);
}
