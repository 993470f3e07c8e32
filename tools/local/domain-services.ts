/**
 * Local services for custom domains: a DNS with a registrar, our own name server, and a certificate authority if
 * installed.
 */
import { join } from 'node:path';
import type { Context } from './context.ts';
import type { Program } from './packages.ts';
import type { Service } from './service-manager.ts';
import { startNodeProcess } from './services/node-process.ts';
import { findPebble, startPebble } from './services/pebble.ts';
import { findPowerDns, startPowerDns } from './services/powerdns.ts';

export type DomainServiceName = 'names' | 'zones' | 'authority';

const nameServers = 'ns.frontage.test';
const cnameTarget = 'edge.frontage.test';

/** Whether names, zones and certificates are local; otherwise the user configured others. */
function usesLocalDomains({ extraEnv }: Pick<Context, 'extraEnv'>): boolean {
  const named = ['FRONTAGE_DOMAINS', 'FRONTAGE_DNS_RESOLVERS', 'FRONTAGE_ZONES_URL', 'FRONTAGE_ACME_URL'];
  return named.every((name) => extraEnv[name] === undefined);
}

/** The services that run. */
export function domainServiceNames(context: Pick<Context, 'extraEnv'>): DomainServiceName[] {
  if (!usesLocalDomains(context)) return [];
  return [
    'names',
    ...('command' in findPowerDns() ? (['zones'] as const) : []),
    ...('command' in findPebble() ? (['authority'] as const) : []),
  ];
}

/** Programs that are missing for all of them; none if the user configured their own services. */
export function missingForDomains(context: Pick<Context, 'extraEnv'>): Program[] {
  if (!usesLocalDomains(context)) return [];
  return [findPowerDns(), findPebble()].flatMap((found) => ('missing' in found ? [found.missing] : []));
}

export function domainServices(context: Context): Service<DomainServiceName>[] {
  const make = { names: namesService, zones: zonesService, authority: authorityService };
  return domainServiceNames(context).map((name) => make[name](context));
}

const local = (port: number) => `127.0.0.1:${port}`;

function namesService(context: Context): Service<DomainServiceName> {
  const { ports, dataDir, progress } = context;
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    NAMES_DNS_PORT: String(ports.names),
    NAMES_WEB_PORT: String(ports.registrar),
    NAMES_ZONES: local(ports.zones),
    NAMES_UNDER: nameServers,
    NAMES_OWN: JSON.stringify({ [cnameTarget]: '127.0.0.1' }),
    NAMES_FILE: join(dataDir, 'registered.json'),
  };
  const logFile = context.logFile('names');
  return {
    name: 'names',
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      progress.step('The registrar', () =>
        startNodeProcess({ name: 'names', entry: 'tools/local/services/registrar.ts', env, logFile, onSpawn }),
      ),
  };
}

function zonesService({ ports, dataDir, progress, logFile, secret }: Context): Service<DomainServiceName> {
  const options = {
    dir: join(dataDir, 'zones'),
    key: zonesKey(secret),
    nameServer: nameServers,
    logFile: logFile('zones'),
  };
  return {
    name: 'zones',
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      progress.step('PowerDNS', () =>
        startPowerDns({ ...options, ports: { dns: ports.zones, api: ports.zonesApi }, onSpawn }),
      ),
  };
}

function authorityService({ ports, dataDir, progress, logFile }: Context): Service<DomainServiceName> {
  const options = {
    dir: join(dataDir, 'authority'),
    resolver: local(ports.names),
    httpPort: ports.edge,
    port: ports.authority,
    managementPort: ports.authorityRoots,
    logFile: logFile('authority'),
  };
  return {
    name: 'authority',
    stopSignal: 'SIGTERM',
    start: (onSpawn) => progress.step('Pebble', () => startPebble({ ...options, onSpawn })),
  };
}

const zonesKey = (secret: string) => `zones ${secret}`;

/** Settings that connect our processes to these services. */
export function domainsEnv(context: Pick<Context, 'extraEnv' | 'ports' | 'dataDir' | 'secret'>): NodeJS.ProcessEnv {
  const { ports, dataDir, secret } = context;
  const running = domainServiceNames(context);
  if (running.length === 0) return {};
  const zones = {
    FRONTAGE_ZONES_URL: `http://${local(ports.zonesApi)}`,
    FRONTAGE_ZONES_KEY: zonesKey(secret),
    FRONTAGE_NAMESERVERS: nameServers,
  };
  const authority = {
    FRONTAGE_ACME_URL: `https://${local(ports.authority)}/dir`,
    FRONTAGE_ACME_CA: join(dataDir, 'authority', 'server.pem'),
    FRONTAGE_ACME_TERMS: 'agreed',
    FRONTAGE_EDGE_TLS_PORT: String(ports.edgeTls),
    FRONTAGE_PUBLIC_HTTP_PORT: String(ports.edge),
    FRONTAGE_PUBLIC_TLS_PORT: String(ports.edgeTls),
  };
  return {
    FRONTAGE_DOMAINS: running.includes('zones') ? 'nameservers,cname' : 'cname',
    FRONTAGE_DNS_RESOLVERS: local(ports.names),
    FRONTAGE_DNS_PORT: String(ports.names),
    FRONTAGE_DOMAINS_ENDINGS: 'test',
    FRONTAGE_CNAME_TARGET: cnameTarget,
    FRONTAGE_EDGE_ADDRESSES: '127.0.0.1',
    ...(running.includes('zones') ? zones : {}),
    ...(running.includes('authority') ? authority : {}),
  };
}
