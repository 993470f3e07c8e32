/** The ports of `npm start`: from the environment, else from the last start, else the defaults, else free ones. */
import { join } from 'node:path';
import type { Ports } from './context.ts';
import { readJson, writePrivate } from './data-folder.ts';
import { choosePort, portFault, reservePort } from './ports.ts';
import { UserError } from './user-error.ts';

const variables: Record<keyof Ports, string> = {
  api: 'FRONTAGE_API_PORT',
  edge: 'FRONTAGE_EDGE_PORT',
  postgres: 'FRONTAGE_POSTGRES_PORT',
  temporal: 'FRONTAGE_TEMPORAL_PORT',
  temporalUi: 'FRONTAGE_TEMPORAL_UI_PORT',
  mail: 'FRONTAGE_MAIL_PORT',
  smtp: 'FRONTAGE_SMTP_PORT',
  payments: 'FRONTAGE_PAYMENTS_PORT',
  edgeTls: 'FRONTAGE_EDGE_TLS_PORT',
  names: 'FRONTAGE_NAMES_PORT',
  registrar: 'FRONTAGE_REGISTRAR_PORT',
  zones: 'FRONTAGE_ZONES_PORT',
  zonesApi: 'FRONTAGE_ZONES_API_PORT',
  authority: 'FRONTAGE_AUTHORITY_PORT',
  authorityRoots: 'FRONTAGE_AUTHORITY_ROOTS_PORT',
};

const defaults: Ports = {
  api: 4400,
  edge: 4480,
  postgres: 4432,
  temporal: 4433,
  temporalUi: 4434,
  mail: 4435,
  smtp: 4436,
  payments: 4437,
  edgeTls: 4443,
  names: 4453,
  registrar: 4438,
  zones: 4454,
  zonesApi: 4455,
  authority: 4456,
  authorityRoots: 4457,
};

export async function namedPorts(dataDir: string, env: NodeJS.ProcessEnv): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const last = readJson<Partial<Ports>>(file) ?? {};
  const ports: Partial<Ports> = {};
  const names = Object.keys(variables) as (keyof Ports)[];
  // First those of the environment, so that none of them is chosen for another service.
  for (const name of names) {
    const named = env[variables[name]];
    if (named) ports[name] = await requirePort(Number(named), variables[name]);
  }
  for (const name of names) ports[name] ??= await choosePort(last[name], defaults[name]);
  // Addresses of sites and of git contain the ports, so they should survive a restart.
  writePrivate(file, JSON.stringify(ports));
  return ports as Ports;
}

async function requirePort(port: number, variable: string): Promise<number> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UserError(`${variable} is not a port number.`);
  if (await reservePort(port)) return port;
  const fault = await portFault(port);
  if (fault === 'EACCES')
    throw new UserError(`Your user may not listen on port ${port}. Set ${variable} to a port from 1024 on.`);
  const reason = fault ? 'is in use. Free it, or set' : 'is set for two services. Set';
  throw new UserError(`Port ${port} ${reason} ${variable} to a different port.`);
}
