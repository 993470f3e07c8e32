/**
 * Connections that fronts pass on: each begins with whom it is from (edge/http/proxy-header.ts), before TLS. From a front that header has to come,
 * from anybody else none is taken: it is never guessed whether there is one. Where no fronts are named, nothing of this is in the way.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { readProxyHeader } from './proxy-header.ts';

type Take = (socket: Socket) => void;

export type FrontsOptions = {
  /** Addresses and networks of fronts. */
  trusted: readonly string[];
  /** How long the header may take. */
  headerMs?: number;
};

const patienceMs = 5_000;
/** Whom connections are from, by the address and port of the front's end of them: what stands above TLS knows no more. */
type Known = Map<string, string>;

/**
 * Puts itself before whoever takes the server's connections, once those are in place. `readsOn`: whether they have to be told that what was
 * read is theirs now; TLS looks for it by itself.
 */
export function putFrontsFirst(server: EventEmitter, options: FrontsOptions, readsOn: boolean): Known {
  const { trusted, headerMs = patienceMs } = options;
  const isFront = proxyAddress.compile([...trusted]);
  const known: Known = new Map();
  const listeners = server.listeners('connection') as Take[];
  server.removeAllListeners('connection');

  function passOn(socket: Socket): void {
    for (const listener of listeners) listener.call(server, socket);
    if (readsOn) socket.resume();
  }

  server.on('connection', (socket: Socket) => {
    // A connection that is over already has no address.
    if (socket.remoteAddress === undefined) socket.destroy();
    else if (!isFront(socket.remoteAddress, 0)) for (const listener of listeners) listener.call(server, socket);
    else
      readHeader(socket, headerMs, (address) => {
        if (address !== undefined) remember(known, socket, address);
        passOn(socket);
      });
  });
  return known;
}

/** Gives the socket of TLS the address that its connection's header said. */
export function knowFront(known: Known, socket: Socket): void {
  const address = known.get(endOf(socket));
  if (address !== undefined) callIt(socket, address);
}

function remember(known: Known, socket: Socket, address: string): void {
  const end = endOf(socket);
  known.set(end, address);
  socket.once('close', () => known.delete(end));
  callIt(socket, address);
}

const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

function callIt(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true });
}

function readHeader(socket: Socket, headerMs: number, then: (address: string | undefined) => void): void {
  let held: Buffer = Buffer.alloc(0);
  const giveUp = () => void socket.destroy();
  const patience = setTimeout(giveUp, headerMs);

  function leave(): void {
    clearTimeout(patience);
    socket.off('data', hear);
    socket.off('end', giveUp);
    socket.off('error', giveUp);
    socket.off('close', leave);
  }

  function hear(chunk: Buffer): void {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const header = readProxyHeader(held);
    if (header.status === 'begun') return;
    leave();
    if (header.status === 'wrong') giveUp();
    else {
      socket.pause();
      if (held.length > header.bytes) socket.unshift(held.subarray(header.bytes));
      then(header.address);
    }
  }

  socket.on('data', hear);
  socket.on('end', giveUp);
  socket.on('error', giveUp);
  socket.on('close', leave);
}
