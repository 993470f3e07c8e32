/** The ports of `npm start`: from the environment, else from the last start, else the defaults, else free ones. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ports } from './context.ts';
import { choosePort, isFree } from './ports.ts';
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
  const last: Partial<Ports> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const ports: Partial<Ports> = {};
  for (const name of Object.keys(variables) as (keyof Ports)[]) {
    const named = env[variables[name]];
    ports[name] = named
      ? await requirePort(Number(named), variables[name])
      : await choosePort(last[name], defaults[name]);
  }
  // Addresses of sites and of git contain the ports, so they should survive a restart.
  writeFileSync(file, JSON.stringify(ports));
  return ports as Ports;
}

async function requirePort(port: number, variable: string): Promise<number> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UserError(`${variable} is not a port number.`);
  if (!(await isFree(port)))
    throw new UserError(`Port ${port} is in use. Free it, or set ${variable} to a different port.`);
  return port;
}
