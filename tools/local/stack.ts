/** The whole system on one machine, in one folder: for `npm start` and for acceptance tests. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Context, Ports, ProcessName, Progress } from './context.ts';
import { newSecret, openLogs, readOrCreate } from './data-folder.ts';
import { domainPartNames, missingForDomains } from './domain-parts.ts';
import { lockFolder } from './lock.ts';
import { freePort } from './ports.ts';
import { UserError } from './problem.ts';
import type { ProcessId } from './processes.ts';
import { openRunRecords, type RunRecords } from './run-records.ts';
import { startTemporal } from './services/temporal.ts';
import {
  createParts,
  type PartName,
  processEnv,
  processNames,
  usesMailCatcher,
  usesPaymentsStub,
} from './stack-parts.ts';
import { type Supervisor, supervise } from './supervisor.ts';

export { type PartName, type Ports, type ProcessName, type Progress, processNames };

export type StackOptions = {
  /** All data and logs. */
  dataDir: string;
  /** Called after leftovers of an earlier run have been stopped. Ports it does not name are chosen freely. */
  ports?: () => Promise<Partial<Ports>>;
  /** For our processes; overrides what the stack sets. */
  env?: NodeJS.ProcessEnv;
  /** False trades safety against a power cut for speed. */
  durable: boolean;
  /** Prepares what else our processes need; runs while the databases start. */
  prepare?: () => Promise<void>;
  /** Starts the workflow engine; the development server by default. */
  engine?: typeof startTemporal;
  /** Which of our processes to start; all by default. */
  processes?: ProcessName[];
  progress?: Progress;
  /** Abort it to cancel a start. */
  signal?: AbortSignal;
  onUnexpectedEnd?: (name: PartName, how: string) => void;
};

export type Stack = Pick<Supervisor<PartName>, 'pid' | 'kill' | 'restart'> & {
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
  /** Address of the payments stub; null if the user configured payments. */
  paymentsUrl: string | null;
  /** Address of the registrar stub; null if the user configured DNS or certificates. */
  registrarUrl: string | null;
  /** Debian packages that are missing to try custom domains completely. */
  missingForDomains: string[];
  ports: Ports;
  /** The environment of our processes, for commands that use the same system. */
  env: NodeJS.ProcessEnv;
  /** Stops everything in order and frees the folder. */
  stop(): Promise<void>;
  /** Kills everything at once and frees the folder. */
  killAll(): Promise<void>;
};

/** Starts the system and returns when all of it is ready. If a part fails, the others are stopped. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const lock = lockFolder(dataDir);
  const records = openRunRecords(join(dataDir, 'run'));
  const stopStarting = () => void records.stopLeftovers();
  try {
    await records.stopLeftovers();
    // This stops parts that are still starting; their starts fail, and so does this one.
    options.signal?.addEventListener('abort', stopStarting);
    const context = await openContext({ ...options, dataDir });
    return await startParts(context, records, options, lock.release);
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
    extraEnv: options.env ?? {},
    logFile: openLogs(dataDir),
    signal: options.signal,
    engine: options.engine ?? startTemporal,
    progress: options.progress ?? { step: (_title, run) => run(() => {}) },
  };
}

async function startParts(
  context: Context,
  records: RunRecords,
  options: StackOptions,
  release: () => void,
): Promise<Stack> {
  const processes = options.processes ?? processNames;
  const parts = createParts(context, processes).map((part) => ({
    ...part,
    async start(onSpawn: (id: ProcessId) => void) {
      context.signal?.throwIfAborted();
      return await part.start(onSpawn);
    },
  }));
  const supervisor = supervise(parts, records, options.onUnexpectedEnd ?? (() => {}));
  const stubs: PartName[] = [
    ...(usesMailCatcher(context) ? (['mail'] as const) : []),
    ...(usesPaymentsStub(context) ? (['payments'] as const) : []),
    ...domainPartNames(context),
  ];
  const services: PartName[] = ['postgres', 'temporal', ...stubs];
  const all = (how: 'stop' | 'kill', names: PartName[]) => Promise.all(names.map((name) => supervisor[how](name)));
  const shutDown = async (how: 'stop' | 'kill') => {
    await all(how, processes);
    await all(how, services);
    release();
  };
  const database = startDatabase(context, supervisor);
  const engine = supervisor.start('temporal');
  const prepared = options.prepare?.();
  // Each process starts as soon as its first dependency is ready; it retries the others itself.
  context.needs = {
    edge: database,
    api: Promise.all([database, engine]),
    worker: Promise.all([database, engine, prepared]),
  };
  // Nothing else handles the rejection if a process is not started.
  for (const need of Object.values(context.needs)) need.catch(() => {});
  try {
    await allSettled([
      database,
      engine,
      prepared,
      ...stubs.map((name) => supervisor.start(name)),
      ...processes.map((name) => supervisor.start(name)),
    ]);
  } catch (error) {
    await shutDown('stop');
    throw error;
  }
  const { pid, kill, restart } = supervisor;
  return { ...addresses(context), pid, kill, restart, stop: () => shutDown('stop'), killAll: () => shutDown('kill') };
}

async function startDatabase(context: Context, supervisor: Supervisor<PartName>): Promise<void> {
  const [{ IncompatibleDatabase, migrate }] = await Promise.all([
    import('#db/migrate.ts'),
    supervisor.start('postgres'),
  ]);
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

function addresses(context: Context) {
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
    registrarUrl: domainPartNames(context).length > 0 ? `http://localhost:${context.ports.registrar}` : null,
    missingForDomains: missingForDomains(context),
    ports: context.ports,
    env,
  };
}
