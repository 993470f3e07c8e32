/**
 * Several of each, on a store in a bucket, over the wire alone: API processes, edges and workers are restarted in any order behind a front
 * that shares out connections, and nobody who calls, publishes or visits notices. `SEVERAL_ROUNDS` for more than one round.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callApi } from '../../local/client.ts';
import { startNodeProcess } from '../../local/node-process.ts';
import { freePort } from '../../local/ports.ts';
import type { Daemon } from '../../local/processes.ts';
import { openRunRecords } from '../../local/run-records.ts';
import { openRoundRobin } from '../stack/round-robin.ts';
import { type OwnStack, startOwnStack, visit } from '../stack/stack.ts';
import { until } from '../stack/until.ts';
import { openBucketPlace, type Place } from '../store/kinds.ts';
import { lacksS3, type S3Server, startS3 } from '../store/s3-server.ts';

type Member = { kind: 'api' | 'edge' | 'worker'; restart(): Promise<void>; end(): Promise<void> };
type Front = Awaited<ReturnType<typeof openRoundRobin>>;

const rounds = Number(process.env.SEVERAL_ROUNDS ?? 1);
const entries = { api: 'api/server.ts', edge: 'edge/server.ts', worker: 'worker/worker.ts' };

let s3: S3Server;
let place: Place;
let stack: OwnStack;
let fronts: { api: Front; edge: Front };
const members: Member[] = [];

beforeAll(async () => {
  if (lacksS3) return;
  s3 = await startS3();
  place = await openBucketPlace(s3);
  const { endpoint, credentials } = s3.address;
  const env = {
    FRONTAGE_STORE: `s3://${place.dir.slice(s3.dir.length + 1).replace(/\/$/, '')}`,
    FRONTAGE_S3_ENDPOINT: endpoint,
    FRONTAGE_S3_KEY_ID: credentials.accessKeyId,
    FRONTAGE_S3_SECRET: credentials.secretAccessKey,
    FRONTAGE_DRAIN_SECONDS: '1',
    FRONTAGE_GRACE_SECONDS: '30',
    FRONTAGE_EDGE_PROCESSES: '1',
    FRONTAGE_EDGE_TLS_PORT: '',
    FRONTAGE_WARM_SANDBOXES: '0',
  };
  stack = await startOwnStack({ env, processes: [] });
  const [api, edge] = [await threePorts(), (await threePorts()).slice(1)];
  await Promise.all([
    ...api.map((port, n) => startMember('api', n, { FRONTAGE_API_PORT: String(port) })),
    // Each edge has a disk of its own.
    ...edge.map((port, n) =>
      startMember('edge', n, { FRONTAGE_EDGE_PORT: String(port), FRONTAGE_DATA: join(stack.dataDir, `edge-${n}`) }),
    ),
    startMember('worker', 0, { FRONTAGE_QUEUES: 'platform' }),
    startMember('worker', 1, { FRONTAGE_QUEUES: 'platform' }),
    startMember('worker', 2, { FRONTAGE_QUEUES: 'builds' }),
  ]);
  fronts = {
    api: await openRoundRobin(api, { host: 'localhost', path: '/readyz' }),
    edge: await openRoundRobin(edge, { host: stack.baseDomain, path: '/readyz' }),
  };
}, 120_000);

afterAll(async () => {
  await Promise.all([fronts?.api.close(), fronts?.edge.close()]);
  await Promise.all(members.map((member) => member.end()));
  await stack?.stop();
  await s3?.remove();
}, 60_000);

const threePorts = () => Promise.all([freePort(), freePort(), freePort()]);

/** Starts a process of the installation. */
async function startMember(kind: Member['kind'], n: number, own: NodeJS.ProcessEnv): Promise<void> {
  const records = openRunRecords(join(stack.dataDir, 'run'));
  const name = `${kind}-${n}`;
  const start = (): Promise<Daemon> =>
    startNodeProcess({
      name,
      entry: entries[kind],
      env: { ...stack.env, ...own },
      logFile: join(stack.dataDir, `${name}.log`),
      onSpawn: (id) => records.add({ name, stopSignal: 'SIGKILL', ...id }),
    });
  let daemon = await start();
  members.push({
    kind,
    async restart() {
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toBe('exit code 0');
      daemon = await start();
    },
    end: () => daemon.kill(),
  });
}

const call = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  callApi(fronts.api.url, path, { token: stack.owner.token, headers, ...(body === undefined ? {} : { body }) });
const page = (words: string) =>
  `<html lang="en"><head><title>${words}</title></head><body><h1>${words}</h1></body></html>\n`;

test('processes of every kind are restarted in any order, and no call, no commit, no publish and no visit is lost', async ({
  skip,
}) => {
  skip(!!lacksS3, lacksS3);
  const { body: site } = await call('/v1/sites', { name: 'several', title: 'Several', template: 'blank' });
  expect((await call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=50' })).body.status).toBe(
    'live',
  );
  await until(
    async () => (await visit({ ...stack, edgeUrl: fronts.edge.url }, 'several', '/')).status,
    (status) => status === 200,
  );
  let isOver = false;
  const wrong: string[] = [];
  const made = { calls: 0, commits: 0, publishes: 0, visits: 0 };

  /** Does it again and again until all restarts are over; what it throws or answers badly is noted. */
  async function keepOn(what: keyof typeof made, act: (n: number) => Promise<{ status: number }>): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const status = await act(n).then(
        (answer) => answer.status,
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      if (typeof status === 'string' || status >= 300) wrong.push(`${what} ${n}: ${status}`);
      else made[what] += 1;
    }
  }
  /** A few a second: each page is built again with every publish. */
  async function change(path: string, words: string) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return await call(`/v1/sites/${site.id}/commits`, {
      message: `Say ${words}`,
      changes: [{ path, text: page(words) }],
    });
  }
  const working = [
    keepOn('calls', () => call('/v1/account')),
    keepOn('calls', () => call(`/v1/sites/${site.id}/deployments`)),
    keepOn('visits', () => visit({ ...stack, edgeUrl: fronts.edge.url }, 'several', '/')),
    keepOn('visits', () => visit({ ...stack, edgeUrl: fronts.edge.url }, 'several', '/')),
    keepOn('commits', (n) => change(`src/pages/one-${n}.astro`, `one ${n}`)),
    keepOn('commits', (n) => change(`src/pages/two-${n}.astro`, `two ${n}`)),
    keepOn('publishes', async () => {
      // The wait for a publish ends early where its process is restarted: it is then asked for.
      const { status, body } = await call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=50' });
      if (status >= 300) return { status };
      const { status: last } = await until(
        async () => (await call(`/v1/deployments/${body.id}`)).body,
        (seen) => ['live', 'failed', 'cancelled', 'superseded'].includes(seen.status),
        60_000,
      );
      return { status: last === 'live' ? 200 : 500 };
    }),
  ];
  for (let round = 0; round < rounds; round++) {
    // One of each kind goes at a time, as whoever runs several of each would have it.
    const kinds = (['api', 'edge', 'worker'] as const).map((kind) =>
      members.filter((one) => one.kind === kind).sort(() => Math.random() - 0.5),
    );
    await Promise.all(
      kinds.map(async (some) => {
        for (const member of some) {
          await member.restart();
          if (member.kind === 'worker') continue;
          const front = fronts[member.kind];
          await until(
            () => front.ready().length,
            (ready) => ready === some.length,
            60_000,
          );
        }
      }),
    );
  }
  isOver = true;
  await Promise.all(working);
  expect(wrong).toEqual([]);
  for (const count of Object.values(made)) expect(count).toBeGreaterThan(0);
  const pages: { path: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await call(`/v1/sites/${site.id}/files?path=src/pages&limit=100${cursor && `&cursor=${cursor}`}`);
    pages.push(...body.items.filter(({ path }: { path: string }) => /\/(one|two)-\d+\.astro$/.test(path)));
    cursor = body.next_cursor ?? null;
  }
  expect(pages).toHaveLength(made.commits);
  expect((await call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=50' })).body.status).toBe(
    'live',
  );
  const last = pages.at(-1)?.path.slice('src/pages/'.length, -'.astro'.length) ?? '';
  for (const _edge of [1, 2])
    await until(
      async () => (await visit({ ...stack, edgeUrl: fronts.edge.url }, 'several', `/${last}/`)).text,
      (text) => text.includes(last.replace('-', ' ')),
    );
}, 300_000);
