/** One edge with a database and a store of its own, and the hands to publish on it. */
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import pino from 'pino';
import { type Notifications, openNotifications } from '#db/notifications.ts';
import { createEdge } from '#edge/edge.ts';
import { listen } from '#edge/http/listener.ts';
import { type EdgeDatabase, openEdgeDatabase } from '#edge/routing/database.ts';
import { type ManifestFile, renderManifest } from '#providers/manifest.ts';
import { isCompressible } from '#providers/media-types.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import { systemClock } from '#runtime/clock.ts';
import { newId, newPublicId } from '#runtime/ids.ts';
import { createTestDatabase, makeFolder } from '#test/stack/database.ts';

export const baseDomain = 'sites.test';

export type Files = Record<string, string | Buffer>;
export type Answer = { status: number; headers: Record<string, string | undefined>; body: Buffer; text: string };
export type Ask = { host?: string; method?: string; headers?: Record<string, string> };

/** A change channel that hears nothing. */
export const deaf: Notifications = { on: () => () => {}, close: async () => {} };

export type EdgeOptions = {
  notifications?: Notifications;
  databaseUrl?: string;
  cacheBytes?: number;
  through?: (database: EdgeDatabase) => EdgeDatabase;
  listening?: Partial<Parameters<typeof listen>[1]>;
};

export async function createFixture() {
  const dir = await makeFolder('frontage-edge-');
  const database = await createTestDatabase();
  const db = new pg.Pool({ connectionString: database.url, max: 4 });
  db.on('error', () => {});
  const store = createDiskStore(join(dir, 'store'));
  const logged: { level: number; msg: string; err?: { message: string } }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const account = newId('acct');
  await db.query(`insert into account (id, name, email, created_at) values ($1, 'Ada', $2, $3)`, [
    account,
    `${account}@example.test`,
    systemClock.now(),
  ]);
  const closing: (() => Promise<unknown>)[] = [];

  /** Starts an edge; answers its port and how to end it. */
  async function openEdge(options: EdgeOptions = {}) {
    const {
      notifications,
      databaseUrl = database.url,
      cacheBytes = 16 * 1024 * 1024,
      through = (asked) => asked,
    } = options;
    const hearing = notifications ?? openNotifications(databaseUrl, log);
    const asking = through(openEdgeDatabase(databaseUrl));
    const sitesFile = join(dir, 'edge', 'sites.db');
    const parts = { baseDomain, store, database: asking, notifications: hearing, clock: systemClock, log };
    const edge = createEdge({ ...parts, sitesFile, cacheBytes });
    await edge.ready;
    const listening = await listen(edge, { host: '127.0.0.1', port: 0, ...options.listening });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= (async () => {
        await listening.close();
        await edge.close();
        await Promise.all([hearing.close(), asking.close()]);
      })();
      return closed;
    };
    closing.push(close);
    return { port: listening.port, tlsPort: listening.tlsPort, close };
  }

  async function addSite(name: string): Promise<string> {
    const id = newId('site');
    await db.query(
      `insert into site (id, account_id, name, title, template, status, public_id, created_at)
       values ($1, $2, $3, $3, 'blank', 'active', $4, $5)`,
      [id, account, name, newPublicId(), systemClock.now()],
    );
    return id;
  }

  /** Keeps the files' bytes; answers the manifest's hash. */
  async function keep(files: Files): Promise<string> {
    const lines: ManifestFile[] = await Promise.all(
      Object.entries(files).map(async ([path, content]) => {
        const blob = await store.put(Buffer.from(content), { compress: isCompressible(path) });
        const encodings = blob.encodings.filter((encoding) => encoding !== 'identity');
        return { path, sha256: blob.sha256, bytes: blob.bytes, encodings };
      }),
    );
    return (await store.put(renderManifest(lines))).sha256;
  }

  let number = 0;
  /** A deployment that was or is live: `liveAt` says since when. It does not move the site's pointer. */
  async function addDeployment(siteId: string, manifest: string, liveAt = systemClock.now()): Promise<string> {
    const id = newId('dep');
    number += 1;
    await db.query(
      `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, created_by_id, created_at, live_at)
       values ($1, $2, $3, 'site', 'retired', $3, 'http://site.test', $4, $5, $6, $6)`,
      [id, siteId, number, manifest, account, liveAt],
    );
    return id;
  }

  async function point(siteId: string, deploymentId: string): Promise<void> {
    await db.query('update site set live_deployment_id = $2 where id = $1', [siteId, deploymentId]);
  }

  /** Publishes these files on a new site of this name. */
  async function publish(name: string, files: Files): Promise<{ siteId: string; deploymentId: string }> {
    const siteId = await addSite(name);
    const deploymentId = await addDeployment(siteId, await keep(files));
    await point(siteId, deploymentId);
    return { siteId, deploymentId };
  }

  async function close(): Promise<void> {
    await Promise.all(closing.map((end) => end()));
    await db.end();
    await database.drop();
    await rm(dir, { recursive: true, force: true });
  }

  return { dir, database, db, store, logged, openEdge, addSite, keep, addDeployment, point, publish, close };
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** Asks the edge on the port, over a connection of its own. */
export function ask(port: number, path: string, { host, method = 'GET', headers = {} }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method, agent: false as const };
    const req = request(
      { ...options, headers: { host: host ?? baseDomain, connection: 'keep-alive', ...headers } },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const body = Buffer.concat(chunks);
          const fields = res.headers as Answer['headers'];
          resolve({ status: res.statusCode as number, headers: fields, body, text: body.toString() });
        });
      },
    );
    req.on('error', reject);
    req.end();
  });
}

/** Sends these very bytes and answers all that comes back until the edge ends the connection. */
export async function askRaw(port: number, bytes: string): Promise<string> {
  const { connect } = await import('node:net');
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(15_000, () => socket.destroy(new Error('the edge did not end the connection')));
  socket.write(Buffer.from(bytes, 'latin1'));
  return text(socket);
}

/** Asks again and again until the answer is as wanted; answers how long that took, in milliseconds. */
export async function until(look: () => Promise<boolean>, withinMs = 10_000): Promise<number> {
  const began = performance.now();
  while (!(await look())) {
    if (performance.now() - began > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - began;
}
