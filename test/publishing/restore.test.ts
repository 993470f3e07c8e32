/** Restores that cannot be done: overtaken, or with bytes that are lost. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Actor, actorOf } from '#api/access.ts';
import { openAccount } from '#api/accounts/rules.ts';
import { manifestOf, restore } from '#api/deployments/rules.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { goLive } from '#db/deployments/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { renderManifest } from '#providers/manifest.ts';
import { blobPath } from '#providers/store/disk.ts';
import { systemClock } from '#runtime/clock.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps, type Deps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';
import { createTestDatabase, type TestDatabase, temporalAddress } from '#test/stack/database.ts';

let dir: string;
let database: TestDatabase;
let deps: Deps & { close(): Promise<void> };
let actor: Actor;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-restore-'));
  database = await createTestDatabase();
  const config = readConfig({
    FRONTAGE_DATA: dir,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    FRONTAGE_SECRET: 'x'.repeat(32),
    FRONTAGE_LOG_LEVEL: 'silent',
  });
  deps = createDeps(config, { name: 'test' });
  const { id } = await openAccount(deps.em(), systemClock, { email: 'a@example.com', name: 'A' });
  actor = actorOf(id, 'none');
});
afterAll(async () => {
  await deps.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

type Version = { id: string; file: string; manifest: string };

/** A site with versions that have each been live, the last one still. */
async function siteWithVersions(count: number): Promise<Version[]> {
  const em = deps.em();
  const name = `s-${randomUUID()}`;
  const now = deps.clock.now();
  const fields = { name, title: 'T', template: 'blank', status: 'active', publicId: name, createdAt: now } as const;
  const site = em.create(Site, {
    id: newId('site'),
    account: actor.accountId,
    lastTicket: count,
    lastNumber: count,
    ...fields,
  });
  await em.flush();
  const versions: Version[] = [];
  for (let number = 1; number <= count; number++) {
    const file = await deps.store.put(randomBytes(100));
    const manifest = await deps.store.put(renderManifest([{ path: 'index.html', sha256: file.sha256, bytes: 100 }]));
    const id = newId('dep');
    em.create(Deployment, {
      id,
      site,
      number,
      ticket: number,
      kind: 'site',
      status: 'ready',
      siteUrl: 'http://h',
      manifestSha256: manifest.sha256,
      createdBy: actor.accountId,
      createdAt: now,
    });
    await em.flush();
    await goLive(deps.em(), deps.clock, id);
    versions.push({ id, file: file.sha256, manifest: manifest.sha256 });
  }
  return versions;
}

test('a restore overtaken by a newer version is superseded', async () => {
  const [first, second] = await siteWithVersions(2);
  if (!first || !second) throw new Error('no versions');
  const overtaken: Deps = {
    ...deps,
    store: {
      ...deps.store,
      async sizes(hashes) {
        await restore(deps.em(), deps, actor, second.id);
        const { site } = await deps.em().findOneOrFail(Deployment, { id: second.id });
        await deps
          .em()
          .execute('update site set last_ticket = last_ticket + 1, live_ticket = last_ticket + 1 where id = ?', [
            site.id,
          ]);
        return await deps.store.sizes(hashes);
      },
    },
  };
  await expect(restore(deps.em(), overtaken, actor, first.id)).rejects.toMatchObject({
    code: 'superseded',
    retryable: false,
  });
  expect((await deps.em().findOneOrFail(Deployment, { id: second.id })).status).toBe('live');
});

test('a version with lost bytes is not restored; its first lost file is named', async () => {
  const [first] = await siteWithVersions(2);
  if (!first) throw new Error('no version');
  await rm(blobPath(deps.config.storeDir as string, first.file));
  const refusal = { code: 'unarchived_content', retryable: false, message: expect.stringContaining('index.html') };
  await expect(restore(deps.em(), deps, actor, first.id)).rejects.toMatchObject(refusal);
});

test('an unreadable manifest is a temporary storage error', async () => {
  const [first] = await siteWithVersions(1);
  if (!first) throw new Error('no version');
  await rm(blobPath(deps.config.storeDir as string, first.manifest));
  const deployment = await deps.em().findOneOrFail(Deployment, { id: first.id });
  await expect(manifestOf(deps, deployment)).rejects.toMatchObject({ code: 'storage_error', retryable: true });
});

test('a version tells from when to when it was live', async () => {
  const [first, second] = await siteWithVersions(2);
  if (!first || !second) throw new Error('no versions');
  await restore(deps.em(), deps, actor, first.id);
  await restore(deps.em(), deps, actor, first.id);
  const read = async (id: string) => await deps.em().findOneOrFail(Deployment, { id });
  const [one, other] = [await read(first.id), await read(second.id)];
  expect(one.liveSpans).toEqual([
    { from: expect.any(String), to: other.liveSpans[0]?.from },
    { from: other.liveSpans[0]?.to, to: null },
  ]);
  expect(one.liveAt?.toISOString()).toBe(one.liveSpans[1]?.from);
  expect(other).toMatchObject({ status: 'retired', liveSpans: [{ to: expect.any(String) }] });
});

test('restoring the live version keeps it live', async () => {
  const [live] = await siteWithVersions(1);
  if (!live) throw new Error('no version');
  expect((await restore(deps.em(), deps, actor, live.id)).status).toBe('live');
});

test('a restore drops the caches of the site’s builds', async () => {
  const [first] = await siteWithVersions(2);
  if (!first) throw new Error('no versions');
  const { site } = await deps.em().findOneOrFail(Deployment, { id: first.id });
  await restore(deps.em(), deps, actor, first.id);
  expect((await deps.em().findOneOrFail(Site, { id: site.id })).cacheEpoch).toBe(1);
});
