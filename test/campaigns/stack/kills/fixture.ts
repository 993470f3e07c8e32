/** The system that a campaign of kills runs on: its own container engine, one site, and a record of promises. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { type OwnEngine, startOwnEngine } from '#test/stack/engine.ts';
import { type OwnStack, startOwnStack } from '#test/stack/stack.ts';
import type { Answer } from '#tools/local/client.ts';
import { armEdges, withClient } from './edges.ts';
import { pagesOf } from './visitor.ts';

/** Sandboxes that the worker keeps started ahead: what waits may be killed too, with who keeps it or with the engine. */
const warmSandboxes = 1;

export type Part = 'api' | 'worker' | 'temporal' | 'postgres' | 'engine';

/** An answer of 200, written to the disk before anything else is done. */
type Promised = { kind: 'commit' | 'push' | 'publish' | 'restore'; id: string };

export type Machine = { stack: OwnStack; engine: OwnEngine };

/** A system with a container engine of its own, whose moves can be held. */
export async function startMachine(): Promise<Machine & { stop(): Promise<void> }> {
  const runFolder = inject('runFolder');
  const engine = await startOwnEngine(runFolder, runFolder);
  const env = {
    DOCKER_HOST: engine.host,
    FRONTAGE_SANDBOX: 'docker',
    FRONTAGE_WARM_SANDBOXES: String(warmSandboxes),
  };
  const stack = await startOwnStack({ env });
  await armEdges(stack.databaseUrl);
  return {
    stack,
    engine,
    async stop() {
      await stack.stop();
      await engine.stop();
    },
  };
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** A site of an owner of its own in it, so that no cap of another campaign is met. */
export async function openFixture({ stack, engine }: Machine, name: string) {
  const owner = await stack.openOwner();
  const api: OwnStack['api'] = (path, call) => stack.api(path, { token: owner.token, ...call });
  const folder = await mkdtemp(join(tmpdir(), 'frontage-kills-'));
  const { body: site } = await api('/v1/sites', { body: { name, title: 'Kills', template: 'blank' } });
  const fixture = {
    stack: { ...stack, api },
    engine,
    site: site as { id: string; name: string },
    clone: join(folder, 'clone'),
    book: openBook(join(folder, 'promised.jsonl')),
    /** Which version each deployment shows. */
    versions: new Map<string, string>(),
    kill: (part: Part) => (part === 'engine' ? engine.kill() : stack.kill(part)),
    restart: (part: Part) => (part === 'engine' ? engine.restart() : stack.restart(part)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
  await cloneSource(fixture);
  return fixture;
}

function openBook(file: string) {
  const promised: Promised[] = [];
  return {
    promised,
    write(entry: Promised) {
      appendFileSync(file, `${JSON.stringify(entry)}\n`, { flush: true });
      promised.push(entry);
    },
  };
}

type Asking = { stack: OwnStack; site: { id: string; name: string }; book: ReturnType<typeof openBook> };

/** Commits the pages of a version. */
export async function commitVersion(fixture: Asking, version: string): Promise<void> {
  const { body } = await persist(fixture, `/v1/sites/${fixture.site.id}/commits`, {
    message: version,
    changes: pagesOf(version),
  });
  fixture.book.write({ kind: 'commit', id: body.commit });
}

/** Asks once to publish or to restore. Answers the deployment that was promised, or undefined where nothing was. */
export async function ask({ stack, book }: Asking, kind: 'publish' | 'restore', path: string) {
  const sent = { method: 'POST', headers: { prefer: 'respond-async' }, ...(kind === 'publish' ? { body: {} } : {}) };
  const answer = await stack.api(path, sent).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  book.write({ kind, id: answer.body.id });
  return answer.body.id as string;
}

/** Calls until it is answered, as a patient caller does: the same call under the same key. */
export async function persist({ stack }: Pick<Asking, 'stack'>, path: string, body: unknown): Promise<Answer> {
  const headers = { 'idempotency-key': randomUUID(), prefer: 'respond-async' };
  const end = performance.now() + 60_000;
  for (;;) {
    const answer = await stack.api(path, { body, headers }).catch((error) => ({ status: 599, body: String(error) }));
    if (answer.status === 200) return answer as Answer;
    if (answer.status < 500 || performance.now() > end)
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    await delay(100);
  }
}

/** Publishes what is committed, however long it takes until that is promised. */
export async function publishPatiently(fixture: Asking): Promise<string> {
  const { body } = await persist(fixture, `/v1/sites/${fixture.site.id}/publish`, {});
  fixture.book.write({ kind: 'publish', id: body.id });
  return body.id;
}

type Cloned = Asking & { clone: string };

async function git({ clone }: { clone: string }, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [
    '-C',
    clone,
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.com',
    ...args,
  ]);
  return stdout.trim();
}

async function cloneSource({ stack, site, clone }: Cloned): Promise<void> {
  const { body } = await stack.api(`/v1/sites/${site.id}/git-credentials`, {
    body: { repository: 'source', access: 'write' },
  });
  const url = new URL(body.url);
  url.username = body.username;
  url.password = body.password;
  await promisify(execFile)('git', ['clone', '-q', url.href, clone]);
}

/** Makes a commit on what is there, ready to be pushed. */
export async function prepareCommit(fixture: Cloned, text: string): Promise<string> {
  await git(fixture, 'fetch', '-q');
  await git(fixture, 'reset', '-q', '--hard', 'origin/main');
  await writeFile(join(fixture.clone, 'src', 'pushed.ts'), `export const pushed = '${text}';\n`);
  await git(fixture, 'add', '.');
  await git(fixture, 'commit', '-q', '-m', text);
  return await git(fixture, 'rev-parse', 'HEAD');
}

/** Makes a commit of the version's pages on what is on the branch, or where that is not there yet on `main`. */
export async function prepareVersion(fixture: Cloned, version: string, branch: string): Promise<string> {
  await git(fixture, 'fetch', '-q');
  const there = await git(fixture, 'branch', '-r', '--list', `origin/${branch}`);
  await git(fixture, 'reset', '-q', '--hard', there === '' ? 'origin/main' : `origin/${branch}`);
  for (const { path, text } of pagesOf(version)) await writeFile(join(fixture.clone, path), text);
  await git(fixture, 'add', '.');
  await git(fixture, 'commit', '-q', '-m', version);
  return await git(fixture, 'rev-parse', 'HEAD');
}

/** Where a branch stands. */
export async function tipOf(fixture: Cloned, branch: string): Promise<string> {
  await git(fixture, 'fetch', '-q');
  return await git(fixture, 'rev-parse', `origin/${branch}`);
}

/** Pushes; true once it is promised. */
export async function push(fixture: Cloned, commit: string, branch = 'main'): Promise<boolean> {
  const pushed = await git(fixture, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`).then(
    () => true,
    () => false,
  );
  if (pushed && branch === 'main') fixture.book.write({ kind: 'push', id: commit });
  return pushed;
}

/** Promised commits that the history of `main` does not hold, promised deployments that are no rows. */
export async function listLost(fixture: Cloned): Promise<Promised[]> {
  await git(fixture, 'fetch', '-q');
  const commits = (await git(fixture, 'log', '--format=%H', 'origin/main')).split('\n');
  const rows = await withClient(fixture.stack.databaseUrl, (client) => client.query('select id from deployment'));
  const there = new Set([...commits, ...rows.rows.map((row) => row.id)]);
  return fixture.book.promised.filter(({ id }) => !there.has(id));
}

export type Row = { id: string; number: number; status: string; error: unknown };

/** The deployments of the site, newest first. */
export async function readRows({ stack, site }: Asking): Promise<Row[]> {
  const { rows } = await withClient(stack.databaseUrl, (client) =>
    client.query('select id, number, status, error from deployment where site_id = $1 order by number desc', [site.id]),
  );
  return rows;
}

/**
 * What was still to be sent, rows that have not ended, and containers that nobody waits for: all but those started ahead, which a
 * worker that is there has as many of as it is told to.
 */
export async function listLeftovers({ stack, engine }: Machine) {
  const { rows } = await withClient(stack.databaseUrl, (client) =>
    client.query(`select
      (select count(*)::int from outbox where sent_at is null) as unsent,
      (select count(*)::int from deployment where status in ('queued', 'building', 'storing')) as unfinished`),
  );
  const containers = await engine.docker.listContainers({ all: true });
  const ahead = containers.filter(({ Names, State }) => Names[0]?.includes('.warm.') && State === 'running');
  return { ...rows[0], orphans: containers.length - Math.min(ahead.length, warmSandboxes) };
}

/** Starts the sweep of orphans now, which its schedule starts each two minutes. */
export async function sweepOrphans({ stack }: Pick<Machine, 'stack'>): Promise<void> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    await new Client({ connection }).schedule.getHandle('schedule:sweep-orphans').trigger();
  } finally {
    await connection.close();
  }
}
