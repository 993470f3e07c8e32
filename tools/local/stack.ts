/** The whole system on one machine, in one folder: what `npm start` runs and what acceptance tests run against. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Context, Ports, ProcessName, Progress } from './context.ts';
import { keep, newSecret, openLogs } from './data-folder.ts';
import { domainPartNames, missingForDomains } from './domain-parts.ts';
import { lockFolder } from './lock.ts';
import { freePort } from './ports.ts';
import type { ProcessId } from './processes.ts';
import { openRunRecords, type RunRecords } from './run-records.ts';
import { startTemporal } from './services/temporal.ts';
import { catchesMail, createParts, type PartName, playsPayments, processEnv, processNames } from './stack-parts.ts';
import { type Supervisor, supervise } from './supervisor.ts';

export { type PartName, type Ports, type ProcessName, type Progress, processNames };

export type StackOptions = {
  /** Everything it keeps, logs included. */
  dataDir: string;
  /** Asked once what an earlier run left has been ended. Free ports where it names none. */
  ports?: () => Promise<Partial<Ports>>;
  /** For our processes, over what the stack sets. */
  env?: NodeJS.ProcessEnv;
  /** False gives up safety against a power cut for speed. */
  durable: boolean;
  /** What else our processes need; runs beside the start of the databases. */
  prepare?: () => Promise<void>;
  /** Starts the workflow engine; the development server by default. */
  engine?: typeof startTemporal;
  /** Which of our processes; all by default. */
  processes?: ProcessName[];
  progress?: Progress;
  /** Abort it to give up a start that is under way. */
  signal?: AbortSignal;
  onUnexpectedEnd?: (name: PartName, how: string) => void;
};

export type Stack = Pick<Supervisor<PartName>, 'pid' | 'kill' | 'restart'> & {
  dataDir: string;
  /** Of the API, the owner's pages and git. */
  baseUrl: string;
  /** Of the edge. Sites are hosts `<name>.<baseDomain>` at its port. */
  edgeUrl: string;
  baseDomain: string;
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string;
  /** Of the mail catcher; null where mails go to a server that was named. */
  mailUrl: string | null;
  /** Of the stand-in for the provider of payments; null where money is taken elsewhere, or not at all. */
  paymentsUrl: string | null;
  /** Of the registrar that stands in for owners' own; null where names go to servers that were named. */
  registrarUrl: string | null;
  /** Debian's packages without which domains cannot be tried here in full. */
  missingForDomains: string[];
  ports: Ports;
  /** The environment of our processes, for a command that is to work on the same system. */
  env: NodeJS.ProcessEnv;
  /** Stops everything in order and frees the folder. */
  stop(): Promise<void>;
  /** Kills everything at once and frees the folder. */
  killAll(): Promise<void>;
};

/** Starts the system and returns when all of it is ready. What failed half-way is taken down again. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const lock = lockFolder(dataDir);
  const records = openRunRecords(join(dataDir, 'run'));
  const endUnderWay = () => records.endLeftovers();
  try {
    await records.endLeftovers();
    // What is still starting ends, so its start fails, and so does this.
    options.signal?.addEventListener('abort', endUnderWay);
    const context = await openContext({ ...options, dataDir });
    return await startParts(context, records, options, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', endUnderWay);
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
    secret: keep(dataDir, 'secret', newSecret),
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
  const standIns: PartName[] = [
    ...(catchesMail(context) ? (['mail'] as const) : []),
    ...(playsPayments(context) ? (['payments'] as const) : []),
    ...domainPartNames(context),
  ];
  const services: PartName[] = ['postgres', 'temporal', ...standIns];
  const all = (how: 'stop' | 'kill', names: PartName[]) => Promise.all(names.map((name) => supervisor[how](name)));
  const takeDown = async (how: 'stop' | 'kill') => {
    await all(how, processes);
    await all(how, services);
    release();
  };
  const database = startDatabase(context, supervisor);
  const engine = supervisor.start('temporal');
  const prepared = options.prepare?.();
  // Of ours each runs as soon as what it asks first is there; whom else it needs it asks later, and again.
  context.needs = {
    edge: database,
    api: Promise.all([database, engine]),
    worker: Promise.all([database, engine, prepared]),
  };
  // Of those that are not started nobody else hears.
  for (const need of Object.values(context.needs)) need.catch(() => {});
  try {
    await allSettled([
      database,
      engine,
      prepared,
      ...standIns.map((name) => supervisor.start(name)),
      ...processes.map((name) => supervisor.start(name)),
    ]);
  } catch (error) {
    await takeDown('stop');
    throw error;
  }
  const { pid, kill, restart } = supervisor;
  return { ...addresses(context), pid, kill, restart, stop: () => takeDown('stop'), killAll: () => takeDown('kill') };
}

async function startDatabase(context: Context, supervisor: Supervisor<PartName>): Promise<void> {
  const [{ migrate }] = await Promise.all([import('#db/migrate.ts'), supervisor.start('postgres')]);
  await context.progress.step('The database schema', () => migrate(context.postgres?.url ?? ''));
}

/** Like Promise.all, but leaves nothing under way when one fails. */
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
    mailUrl: catchesMail(context) ? `http://localhost:${context.ports.mail}` : null,
    paymentsUrl: playsPayments(context) ? `http://localhost:${context.ports.payments}` : null,
    registrarUrl: domainPartNames(context).length > 0 ? `http://localhost:${context.ports.registrar}` : null,
    missingForDomains: missingForDomains(context),
    ports: context.ports,
    env,
  };
}
