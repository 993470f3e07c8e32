/** The ports of `npm start`. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { namedPorts } from '#tools/local/named-ports.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontage-ports-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** A port on which something listened. */
async function listenOnce(host: string) {
  const server = createServer();
  await once(server.listen({ port: 0, host, ipv6Only: true }), 'listening');
  const { port } = server.address() as { port: number };
  return { port, close: () => once(server.close(), 'close') };
}

async function unusedPort(): Promise<number> {
  const { port, close } = await listenOnce('127.0.0.1');
  await close();
  return port;
}

const lastPorts = (content: string) => writeFileSync(join(folder, 'ports.json'), content);

test('a port of the environment goes to no other service', async () => {
  const port = await unusedPort();
  lastPorts(JSON.stringify({ api: port }));
  const ports = await namedPorts(folder, { FRONTAGE_EDGE_PORT: String(port), FRONTAGE_API_PORT: '' });
  expect(ports.edge).toBe(port);
  expect(Object.values(ports).filter((one) => one === port)).toHaveLength(1);
  expect(JSON.parse(readFileSync(join(folder, 'ports.json'), 'utf8'))).toEqual(ports);
});

test('a port that two settings name is refused', async () => {
  const port = String(await unusedPort());
  await expect(namedPorts(folder, { FRONTAGE_API_PORT: port, FRONTAGE_EDGE_PORT: port })).rejects.toThrow(
    `Port ${port} is set for two services. Set FRONTAGE_EDGE_PORT to a different port.`,
  );
});

test('a damaged list of ports is replaced', async () => {
  lastPorts('');
  expect(Object.keys(await namedPorts(folder, {}))).toHaveLength(15);
});

test('a port on which another program listens by IPv6 is in use', async () => {
  const { port, close } = await listenOnce('::1');
  onTestFinished(async () => void (await close()));
  await expect(namedPorts(folder, { FRONTAGE_API_PORT: String(port) })).rejects.toThrow(
    `Port ${port} is in use. Free it`,
  );
});
