/** The whole system on one machine, in one folder: for `npm start` and for acceptance tests. */
import { join, resolve } from 'node:path';
import type { Context, Ports, ProcessName, Progress } from './context.ts';
import { newSecret, openLogs, protectDataFolder, readOrCreate } from './data-folder.ts';
import { domainServiceNames, missingForDomains } from './domain-services.ts';
import { lockFolder } from './lock.ts';
import type { Program } from './packages.ts';
import { freePort } from './ports.ts';
import { openRunRecords, type RunRecords } from './run-records.ts';
import { createServiceManager, type Service, type ServiceManager } from './service-manager.ts';
import { startTemporal } from './services/temporal.ts';
import {
  createServices,
  processEnv,
  processNames,
  type ServiceName,
  usesMailCatcher,
  usesPaymentsStub,
} from './services.ts';
import { UserError } from './user-error.ts';

export { type Ports, type ProcessName, type Progress, processNames, type ServiceName };

export type StackOptions = {
  /** All data and logs. */
  dataDir: string;
  /** Called after leftovers of an earlier run have been stopped. Ports it does not name are chosen freely. */
  ports?: () => Promise<Partial<Ports>>;
  /** For our processes; overrides what the stack sets. */
  env?: NodeJS.ProcessEnv;
  /** False trades safety against a power cut for speed. */
  durable: boolean;
  /** Prepares what else our processes need, and returns further settings for them; runs while the databases start. */
  prepare?: () => Promise<NodeJS.ProcessEnv>;
  /** Runs when the API is ready, while others may still start. The start waits for it. */
  whenApiReady?: (addresses: Addresses) => Promise<void>;
  /** Starts Temporal; the development server by default. */
  temporal?: typeof startTemporal;
  /** Which of our processes to start; all by default. */
  processes?: ProcessName[];
  progress?: Progress;
  /** Abort it to cancel a start. */
  signal?: AbortSignal;
  onUnexpectedEnd?: (name: ServiceName, how: string) => void;
};

export type Addresses = {
  dataDir: string;
  /** Address of the API, the owner's pages and git. */
  baseUrl: string;
  /** Address of the edge. Sites are hosts `<name>.<baseDomain>` at its port. */
  edgeUrl: string;
  baseDomain: string;
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string;
  /** Address of the mail catcher; null if the user configured an SMTP server. */
  mailUrl: string | null;
  /** Address of the simulated payment provider; null if the user configured payments. */
  paymentsUrl: string | null;
  /** Address of the registrar stub; null if the user configured DNS or certificates. */
  registrarUrl: string | null;
  /** Programs that are missing to try custom domains completely. */
  missingForDomains: Program[];
  ports: Ports;
  /** The environment of our processes, for commands that use the same system. */
  env: NodeJS.ProcessEnv;
};

export type Stack = Pick<ServiceManager<ServiceName>, 'pid' | 'kill' | 'restart'> &
  Addresses & {
    /** Stops everything in order and frees the folder. */
    stop(): Promise<void>;
    /** Kills everything at once and frees the folder. */
    killAll(): Promise<void>;
  };

/** Starts the system and returns when all of it is ready. If a part fails, the others are stopped. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  protectDataFolder(dataDir);
  const lock = lockFolder(dataDir);
  const records = openRunRecords(join(dataDir, 'run'));
  const stopStarting = () => void records.stopLeftovers();
  try {
    await records.stopLeftovers();
    // This stops parts that are still starting; their starts fail, and so does this one.
    options.signal?.addEventListener('abort', stopStarting);
    const context = await openContext({ ...options, dataDir });
    return await startServices(context, records, options, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stopStarting);
  }
}

async function openContext(options: StackOptions): Promise<Context> {
  const { dataDir, durable } = options;
  const chosen = await options.ports?.();
  const port = async (name: keyof Ports) => [name, chosen?.[name] ?? (await freePort())] as const;
  const names = [
    'api',
    'edge',
    'postgres',
    'temporal',
    'temporalUi',
    'mail',
    'smtp',
    'payments',
    'edgeTls',
    'names',
    'registrar',
    'zones',
    'zonesApi',
    'authority',
    'authorityRoots',
  ] as const;
  return {
    dataDir,
    durable,
    ports: Object.fromEntries(await Promise.all(names.map(port))) as Ports,
    secret: readOrCreate(dataDir, 'secret', newSecret),
    extraEnv: { ...options.env },
    logFile: openLogs(dataDir),
    signal: options.signal,
    startTemporal: options.temporal ?? startTemporal,
    progress: options.progress ?? { step: (_title, run) => run(() => {}) },
  };
}

async function startServices(
  context: Context,
  records: RunRecords,
  options: StackOptions,
  release: () => void,
): Promise<Stack> {
  const processes = options.processes ?? processNames;
  const stubs = stubNames(context);
  const services = createServiceManager(
    createServices(context, processes).map((service) => cancellable(service, context.signal)),
    records,
    options.onUnexpectedEnd ?? (() => {}),
  );
  const endAll = (how: 'stop' | 'kill', names: ServiceName[]) => Promise.all(names.map((name) => services[how](name)));
  const shutDown = async (how: 'stop' | 'kill') => {
    await endAll(how, processes);
    await endAll(how, ['postgres', 'temporal', ...stubs]);
    release();
  };
  const dependencies = startDependencies(context, services, options.prepare);
  try {
    const start = async (name: ServiceName) => {
      await services.start(name);
      if (name === 'api') await options.whenApiReady?.(addresses(context));
    };
    await allSettled([...dependencies, ...[...stubs, ...processes].map(start)]);
  } catch (error) {
    await shutDown('stop');
    throw error;
  }
  const { pid, kill, restart } = services;
  return { ...addresses(context), pid, kill, restart, stop: () => shutDown('stop'), killAll: () => shutDown('kill') };
}

function stubNames(context: Context): ServiceName[] {
  return [
    ...(usesMailCatcher(context) ? (['mail'] as const) : []),
    ...(usesPaymentsStub(context) ? (['payments'] as const) : []),
    ...domainServiceNames(context),
  ];
}

/** The service, whose start fails after the signal is aborted. */
function cancellable(service: Service<ServiceName>, signal: AbortSignal | undefined): Service<ServiceName> {
  return {
    ...service,
    async start(onSpawn) {
      signal?.throwIfAborted();
      return await service.start(onSpawn);
    },
  };
}

/** Starts the databases and the preparation, and records what each of our processes waits for. */
function startDependencies(
  context: Context,
  services: ServiceManager<ServiceName>,
  prepare: StackOptions['prepare'],
): (Promise<void> | undefined)[] {
  const database = startDatabase(context, services);
  const temporal = services.start('temporal');
  const prepared = prepare?.().then((settings) => void Object.assign(context.extraEnv, settings));
  // Each process starts as soon as its first dependencies are ready; it retries the others itself.
  context.needs = {
    edge: database,
    api: Promise.all([database, temporal, prepared]),
    worker: Promise.all([database, temporal, prepared]),
  };
  // Nothing else handles the rejection if a process is not started.
  for (const need of Object.values(context.needs)) need.catch(() => {});
  return [database, temporal, prepared];
}

async function startDatabase(context: Context, services: ServiceManager<ServiceName>): Promise<void> {
  const [{ IncompatibleDatabase, migrate }] = await Promise.all([import('#db/migrate.ts'), services.start('postgres')]);
  try {
    await context.progress.step('The database schema', () => migrate(context.postgres?.url ?? ''));
  } catch (error) {
    throw error instanceof IncompatibleDatabase ? new UserError(error.message) : error;
  }
}

/** Like Promise.all, but waits for all of them before it throws. */
async function allSettled(starts: (Promise<void> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(starts)).find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

function addresses(context: Context): Addresses {
  const env = processEnv(context);
  return {
    dataDir: context.dataDir,
    baseUrl: env.FRONTAGE_BASE_URL ?? '',
    edgeUrl: env.FRONTAGE_EDGE_URL ?? '',
    baseDomain: env.FRONTAGE_BASE_DOMAIN ?? 'sites.localhost',
    databaseUrl: env.DATABASE_URL ?? '',
    temporalAddress: env.TEMPORAL_ADDRESS ?? '',
    temporalUiUrl: env.TEMPORAL_UI_URL ?? '',
    mailUrl: usesMailCatcher(context) ? `http://localhost:${context.ports.mail}` : null,
    paymentsUrl: usesPaymentsStub(context) ? `http://localhost:${context.ports.payments}` : null,
    registrarUrl: domainServiceNames(context).length > 0 ? `http://localhost:${context.ports.registrar}` : null,
    missingForDomains: missingForDomains(context),
    ports: context.ports,
    env,
  };
}
