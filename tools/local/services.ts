/** The services and processes of a stack, and their environment. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Context, ProcessName } from './context.ts';
import { type DomainServiceName, domainServices, domainsEnv } from './domain-services.ts';
import type { Service } from './service-manager.ts';
import { startNodeProcess } from './services/node-process.ts';
import { startPostgres } from './services/postgres.ts';

/** The entry of each process, and the modules without side effects that take longest to load. */
const entries = {
  api: { entry: 'api/server.ts', modules: ['runtime/deps.ts', 'api/app.ts'] },
  worker: { entry: 'worker/worker.ts', modules: ['runtime/deps.ts', 'worker/bundle.ts', 'activities/index.ts'] },
  edge: { entry: 'edge/server.ts', modules: ['runtime/config.ts', 'edge/edge-process.ts'] },
} satisfies Record<ProcessName, { entry: string; modules: string[] }>;

export type ServiceName = ProcessName | 'postgres' | 'temporal' | 'mail' | 'payments' | DomainServiceName;
export const processNames = Object.keys(entries) as ProcessName[];

export function createServices(context: Context, processes: ProcessName[]): Service<ServiceName>[] {
  const services = [
    postgresService(context),
    temporalService(context),
    ...(usesMailCatcher(context) ? [mailService(context)] : []),
    ...(usesPaymentsStub(context) ? [paymentsService(context)] : []),
    ...domainServices(context),
  ];
  return [...services, ...processes.map((name) => processService(context, name))];
}

function postgresService(context: Context): Service<ServiceName> {
  const { progress, durable, ports } = context;
  const dir = join(context.dataDir, 'postgres');
  const logFile = context.logFile('postgres');
  return {
    name: 'postgres',
    stopSignal: 'SIGINT',
    start: (onSpawn) =>
      progress.step('PostgreSQL', async (log) => {
        context.postgres = await startPostgres({ dir, port: ports.postgres, durable, logFile, log, onSpawn });
        return context.postgres;
      }),
  };
}

function temporalService(context: Context): Service<ServiceName> {
  const { progress, signal } = context;
  const ports = { server: context.ports.temporal, ui: context.ports.temporalUi };
  const dir = join(context.dataDir, 'temporal');
  const logFile = context.logFile('temporal');
  return {
    name: 'temporal',
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      progress.step('Temporal', async (log) => {
        return await context.startTemporal({ dir, ports, logFile, log, onSpawn, signal });
      }),
  };
}

/** Whether e-mails go to the mail catcher; otherwise to the server that the user configured, or nowhere. */
export function usesMailCatcher({ extraEnv }: Pick<Context, 'extraEnv'>): boolean {
  return extraEnv.FRONTAGE_SMTP_URL === undefined;
}

function mailService(context: Context): Service<ServiceName> {
  const env = {
    ...machineEnv(),
    MAIL_CATCHER_SMTP_PORT: String(context.ports.smtp),
    MAIL_CATCHER_WEB_PORT: String(context.ports.mail),
    MAIL_CATCHER_FOLDER: join(context.dataDir, 'mail'),
  };
  const logFile = context.logFile('mail');
  return {
    name: 'mail',
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      context.progress.step('The mailbox', () =>
        startNodeProcess({ name: 'mail', entry: 'tools/local/services/mail-catcher.ts', env, logFile, onSpawn }),
      ),
  };
}

/** Whether payments go to the simulated provider; otherwise to the provider that the user configured, or payments are off. */
export function usesPaymentsStub({ extraEnv }: Pick<Context, 'extraEnv'>): boolean {
  return extraEnv.FRONTAGE_PAYMENTS_URL === undefined && extraEnv.FRONTAGE_PAYOUT_RAILS === undefined;
}

/**
 * The simulated provider sells plans if `FRONTAGE_BILLING` is `on`. By default every account has the largest plan, so that a first
 * try meets no limit.
 */
function billingEnv({ extraEnv }: Context, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (extraEnv.FRONTAGE_BILLING !== 'on') return {};
  return {
    FRONTAGE_BILLING_KEY: env.FRONTAGE_PAYMENTS_KEY,
    FRONTAGE_BILLING_URL: env.FRONTAGE_PAYMENTS_URL,
    FRONTAGE_BILLING_WEBHOOK_SECRET: env.FRONTAGE_PAYMENTS_WEBHOOK_SECRET,
  };
}

/** Invented keys in the format of the provider's test keys; the same at each start. */
function paymentsEnv(context: Context): NodeJS.ProcessEnv {
  const { ports, secret } = context;
  const derive = (what: string) => createHash('sha256').update(`${what} ${secret}`).digest('hex');
  const env = {
    FRONTAGE_PAYOUT_RAILS: 'own_key,connect',
    FRONTAGE_PAYMENTS_URL: `http://localhost:${ports.payments}`,
    FRONTAGE_PAYMENTS_KEY: `sk_test_${derive('payments key')}`,
    FRONTAGE_PAYMENTS_WEBHOOK_SECRET: `whsec_${derive('payments webhook')}`,
  };
  return { ...env, ...billingEnv(context, env) };
}

function paymentsService(context: Context): Service<ServiceName> {
  const { FRONTAGE_BASE_URL, FRONTAGE_PAYMENTS_KEY, FRONTAGE_PAYMENTS_WEBHOOK_SECRET } = processEnv(context);
  const env = {
    ...machineEnv(),
    PAYMENTS_PORT: String(context.ports.payments),
    PAYMENTS_KEY: FRONTAGE_PAYMENTS_KEY,
    PAYMENTS_WEBHOOK_SECRET: FRONTAGE_PAYMENTS_WEBHOOK_SECRET,
    PAYMENTS_API_URL: FRONTAGE_BASE_URL,
    PAYMENTS_FILE: join(context.dataDir, 'payments.json'),
  };
  const logFile = context.logFile('payments');
  return {
    name: 'payments',
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      context.progress.step('The simulated payment provider', () =>
        startNodeProcess({ name: 'payments', entry: 'tools/local/services/payments.ts', env, logFile, onSpawn }),
      ),
  };
}

function processService(context: Context, name: ProcessName): Service<ServiceName> {
  const logFile = context.logFile(name);
  const { entry, modules } = entries[name];
  return {
    name,
    stopSignal: 'SIGTERM',
    start: (onSpawn) =>
      context.progress.step(`The ${name === 'api' ? 'API' : name}`, () => {
        const env = (context.needs?.[name] ?? Promise.resolve()).then(() => processEnv(context));
        return startNodeProcess({ name, entry, env: machineEnv(), logFile, onSpawn, preload: { modules, env } });
      }),
  };
}

const folderVariables = ['HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR', 'NODE_COMPILE_CACHE'];
const inherited = ['PATH', 'USER', 'LANG', 'DOCKER_HOST', 'NODE_OPTIONS', ...folderVariables];

/** Only the variables of the machine's environment that our processes need. */
function machineEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** The environment of our processes. */
export function processEnv(context: Context): NodeJS.ProcessEnv {
  const { ports, postgres } = context;
  return {
    ...machineEnv(),
    NODE_ENV: 'development',
    FRONTAGE_DATA: context.dataDir,
    FRONTAGE_SECRET: context.secret,
    FRONTAGE_BASE_URL: `http://localhost:${ports.api}`,
    FRONTAGE_API_PORT: String(ports.api),
    FRONTAGE_EDGE_URL: `http://localhost:${ports.edge}`,
    FRONTAGE_EDGE_PORT: String(ports.edge),
    // Two on two cores take 200 MB more, and serve one person no faster.
    FRONTAGE_EDGE_PROCESSES: '1',
    FRONTAGE_RATE_SCALE: '1000',
    FRONTAGE_SIGNUP: 'open',
    FRONTAGE_PHOTOS: 'offline',
    FRONTAGE_CHALLENGE_KEY: `challenge ${context.secret}`,
    FRONTAGE_SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
    ...(usesPaymentsStub(context) ? paymentsEnv(context) : {}),
    DATABASE_URL: postgres?.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
    TEMPORAL_UI_URL: `http://localhost:${ports.temporalUi}`,
    ...domainsEnv(context),
    ...context.extraEnv,
  };
}
