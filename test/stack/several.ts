/** Several processes of each kind, on a store in a bucket, behind TCP load balancers. */
import { join } from 'node:path';
import { openBucketPlace } from '#test/store/kinds.ts';
import { startS3 } from '#test/store/s3-server.ts';
import { freePort } from '#tools/local/ports.ts';
import type { Daemon } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';
import { startNodeProcess } from '#tools/local/services/node-process.ts';
import type { StackOptions } from '#tools/local/stack.ts';
import { type Front, openRoundRobin } from './round-robin.ts';
import { type StackAddress, startTestStack } from './stack.ts';
import { until } from './until.ts';

export const kinds = ['api', 'edge', 'worker'] as const;
export type Kind = (typeof kinds)[number];
export type Member = {
  kind: Kind;
  name: string;
  /** Ends it, waits until it is gone, and starts it anew; answers how it ended. */
  restart(signal?: NodeJS.Signals): Promise<string>;
};
export type Several = {
  address: StackAddress;
  members: Member[];
  /** Until as many of the kind as there are say that they are ready; of workers, who have no front, at once. */
  allReady(kind: Kind): Promise<void>;
  stop(): Promise<void>;
};

const entries = { api: 'api/server.ts', edge: 'edge/server.ts', worker: 'worker/worker.ts' };
const counts = { api: 3, edge: 2 };

type Options = {
  env?: NodeJS.ProcessEnv;
  /** Whether edges speak TLS, by a front of its own. */
  tls?: boolean;
  /** Folder of the release that processes are of until they are restarted. */
  from?: string | undefined;
  temporal?: StackOptions['temporal'];
};

/** Three API processes, two edges, two workers of the platform and one of builds. */
export async function startSeveral(
  runFolder: string,
  name: string,
  { env = {}, tls = false, from, temporal }: Options = {},
) {
  const s3 = await startS3();
  const { dir } = await openBucketPlace(s3);
  const { endpoint, credentials } = s3.address;
  const ports = { api: await freePort(), edge: await freePort(), edgeTls: await freePort() };
  const { stack, address } = await startTestStack(runFolder, name, {
    processes: [],
    ports: async () => ports,
    ...(temporal ? { temporal } : {}),
    env: {
      FRONTAGE_STORE: `s3://${dir.slice(s3.dir.length + 1).replace(/\/$/, '')}`,
      FRONTAGE_S3_ENDPOINT: endpoint,
      FRONTAGE_S3_KEY_ID: credentials.accessKeyId,
      FRONTAGE_S3_SECRET: credentials.secretAccessKey,
      FRONTAGE_DRAIN_SECONDS: '1',
      FRONTAGE_GRACE_SECONDS: '30',
      FRONTAGE_EDGE_PROCESSES: '1',
      FRONTAGE_WARM_SANDBOXES: '0',
      ...(tls ? {} : { FRONTAGE_EDGE_TLS_PORT: '' }),
      ...env,
    },
  });
  const members = await startMembers(stack, from);
  const fronts = await openFronts(members, ports, stack.baseDomain, tls);
  const several: Several = {
    address,
    members,
    async allReady(kind) {
      if (kind === 'worker') return;
      const all = (some: number[]) => some.length === counts[kind];
      await until(fronts[kind].ready, all, 60_000);
    },
    async stop() {
      await Promise.all(Object.values(fronts).map((front) => front.close()));
      await Promise.all(members.map((member) => member.end()));
      await stack.stop();
      await s3.remove();
    },
  };
  return several;
}

type Started = Member & { port: number; tlsPort: number; end(): Promise<void> };
type Where = Pick<Awaited<ReturnType<typeof startTestStack>>['stack'], 'dataDir' | 'env'>;

async function startMembers(stack: Where, from: string | undefined): Promise<Started[]> {
  const start = (kind: Kind, n: number, own: NodeJS.ProcessEnv) => startMember(stack, from, kind, n, own);
  const many = (kind: 'api' | 'edge') => Array.from({ length: counts[kind] }, (_, n) => start(kind, n, {}));
  return await Promise.all([
    ...many('api'),
    ...many('edge'),
    start('worker', 0, { FRONTAGE_QUEUES: 'platform' }),
    start('worker', 1, { FRONTAGE_QUEUES: 'platform' }),
    start('worker', 2, { FRONTAGE_QUEUES: 'builds' }),
  ]);
}

async function startMember(
  { dataDir, env }: Where,
  from: string | undefined,
  kind: Kind,
  n: number,
  own: NodeJS.ProcessEnv,
): Promise<Started> {
  const records = openRunRecords(join(dataDir, 'run'));
  const name = `${kind}-${n}`;
  const [port, tlsPort] = [await freePort(), await freePort()];
  const listening = {
    api: { FRONTAGE_API_PORT: String(port) },
    edge: {
      FRONTAGE_EDGE_PORT: String(port),
      FRONTAGE_EDGE_TLS_PORT: env.FRONTAGE_EDGE_TLS_PORT && String(tlsPort),
      // Each edge has a disk of its own.
      FRONTAGE_DATA: join(dataDir, name),
    },
    worker: {},
  };
  const start = (root?: string): Promise<Daemon> =>
    startNodeProcess({
      name,
      ...(root ? { root } : {}),
      entry: entries[kind],
      env: { ...env, ...listening[kind], ...own },
      logFile: join(dataDir, 'logs', `${name}.log`),
      onSpawn: (id) => records.add({ name, stopSignal: 'SIGKILL', ...id }),
    });
  let daemon = await start(from);
  return {
    kind,
    name,
    port,
    tlsPort,
    async restart(signal = 'SIGTERM') {
      daemon.child.kill(signal);
      const how = await daemon.ended;
      daemon = await start();
      return how;
    },
    end: () => daemon.kill(),
  };
}

async function openFronts(
  members: Started[],
  ports: Record<'api' | 'edge' | 'edgeTls', number>,
  baseDomain: string,
  tls: boolean,
) {
  const ask = { api: { host: 'localhost', path: '/readyz' }, edge: { host: baseDomain, path: '/readyz' } };
  const open = (kind: 'api' | 'edge', front: number, of: 'port' | 'tlsPort'): Promise<Front> => {
    const some = members.filter((one) => one.kind === kind);
    return openRoundRobin(
      some.map((one) => ({ port: one[of], asked: one.port })),
      ask[kind],
      front,
    );
  };
  return {
    api: await open('api', ports.api, 'port'),
    edge: await open('edge', ports.edge, 'port'),
    ...(tls ? { edgeTls: await open('edge', ports.edgeTls, 'tlsPort') } : {}),
  };
}
