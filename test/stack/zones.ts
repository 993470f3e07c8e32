/** A PowerDNS of a test's own, in memory, and the authority that sees names through it. Both are there in a third of a second. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openZones } from '#providers/zones.ts';
import { startPebble } from '#tools/local/services/pebble.ts';
import { startPowerDns } from '#tools/local/services/powerdns.ts';
import { memoryRoot } from './run-folder.ts';

/** A name server of its own; `zones` writes to it, `env` binds ours to it, as name server and as resolver. */
export async function startZones() {
  const dir = await mkdtemp(join(memoryRoot(), 'frontage-zones-'));
  const server = await startPowerDns({ dir, key: 'a key of the tests' });
  const { url, key, address } = server;
  return {
    address,
    url,
    key,
    zones: openZones({ url, key }),
    env: { FRONTAGE_ZONES_URL: url, FRONTAGE_ZONES_KEY: key, FRONTAGE_DNS_RESOLVERS: address },
    async close() {
      await server.kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An authority of its own. `env` binds ours to it. */
export async function startAuthority(options: Omit<Parameters<typeof startPebble>[0], 'dir'>) {
  const dir = await mkdtemp(join(memoryRoot(), 'frontage-pebble-'));
  const pebble = await startPebble({ dir, ...options });
  return {
    ...pebble,
    dir,
    env: {
      FRONTAGE_ACME_URL: pebble.directoryUrl,
      FRONTAGE_ACME_CA: pebble.trusts,
      FRONTAGE_ACME_TERMS: 'agreed',
    },
    close: async () => {
      await pebble.kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
