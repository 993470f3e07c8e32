/** A connection between client and server that can be cut or fall silent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openWire(port: number) {
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytesLeft = Number.POSITIVE_INFINITY;
  let cuts = 0;
  let isDead = false;

  const server = createServer((client) => {
    connections += 1;
    const far = connect(port, '127.0.0.1');
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      if (!isDead) far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (isDead) return;
      client.write(chunk.subarray(0, bytesLeft));
      bytesLeft -= chunk.length;
      if (bytesLeft > 0) return;
      // A connection that ends early, and the next goes on: as when a server is restarted.
      cuts += 1;
      bytesLeft = Number.POSITIVE_INFINITY;
      client.destroy();
      far.destroy();
    });
    client.once('close', () => far.destroy());
    far.once('close', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    /** Cuts the connection that brings the byte after so many, once. */
    cutAfter(bytes: number): void {
      bytesLeft = bytes;
    },
    /** From now on nothing comes through, and nobody is told. */
    goDead(): void {
      isDead = true;
    },
    comeBack(): void {
      isDead = false;
      for (const socket of sockets) socket.destroy();
    },
    seen: () => ({ connections, cuts }),
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
