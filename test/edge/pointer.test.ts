/** What visitors see follows the site's pointer: at once, wholly, and without the database when it must. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type EdgeDatabase, openEdgeDatabase, type SiteChanges } from '#edge/routing/database.ts';
import { quickest } from '#test/stack/quickest.ts';
import { type Answer, ask, createFixture, deaf, type Fixture, until } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture?.close());

const shows = (port: number, name: string, words: string, path = '/') =>
  until(async () => (await ask(port, path, { host: `${name}.sites.test` })).text.includes(words));

async function publishAgain(siteId: string, files: Record<string, string>): Promise<void> {
  const manifest = await fixture.keep(files);
  await fixture.point(siteId, await fixture.addDeployment(siteId, manifest));
}

describe('a new version is served', () => {
  test('at once, with NOTIFY', async () => {
    const { siteId } = await fixture.publish('heard', { 'index.html': 'one' });
    const { port } = await fixture.openEdge();
    await shows(port, 'heard', 'one');
    let version = 1;
    const seen = async () => {
      const words = `version ${++version}`;
      await publishAgain(siteId, { 'index.html': words });
      return await shows(port, 'heard', words);
    };
    // What is not heard is seen a whole second after what was seen before it.
    expect(await quickest(500, seen)).toBeLessThan(500);
  });

  test('within about a second, without NOTIFY', async () => {
    const { siteId } = await fixture.publish('deaf', { 'index.html': 'one' });
    const { port } = await fixture.openEdge({ notifications: deaf });
    let version = 1;
    const seen = async () => {
      const words = `version ${++version}`;
      await publishAgain(siteId, { 'index.html': words });
      return await shows(port, 'deaf', words);
    };
    expect(await quickest(1_500, seen)).toBeLessThan(1_500);
  });

  test('even if its transaction began before others that committed first', async () => {
    const { siteId } = await fixture.publish('slow', { 'index.html': 'one' });
    const other = await fixture.publish('quick', { 'index.html': 'one' });
    const { port } = await fixture.openEdge({ notifications: deaf });
    const late = await fixture.addDeployment(siteId, await fixture.keep({ 'index.html': 'late' }));
    const client = await fixture.db.connect();
    await client.query('begin');
    await client.query('update site set live_deployment_id = $2 where id = $1', [siteId, late]);
    await publishAgain(other.siteId, { 'index.html': 'meanwhile' });
    await shows(port, 'quick', 'meanwhile');
    // The edge has by now asked past the number of the transaction that is still open.
    await publishAgain(other.siteId, { 'index.html': 'and again' });
    await shows(port, 'quick', 'and again');
    await client.query('commit');
    client.release();
    await shows(port, 'slow', 'late');
  });
});

test('new sites, new names and archiving are seen too', async () => {
  const { port } = await fixture.openEdge();
  const { siteId } = await fixture.publish('fresh', { 'index.html': 'fresh' });
  await shows(port, 'fresh', 'fresh');
  await fixture.db.query(`update site set name = 'renamed' where id = $1`, [siteId]);
  await shows(port, 'renamed', 'fresh');
  expect((await ask(port, '/', { host: 'fresh.sites.test' })).status).toBe(404);
  await fixture.publish('fresh', { 'index.html': 'another' });
  await shows(port, 'fresh', 'another');
  await fixture.db.query(`update site set status = 'archived', archived_at = created_at where id = $1`, [siteId]);
  await shows(port, 'renamed', 'is closed');
  await fixture.db.query(`update site set status = 'active', archived_at = null where id = $1`, [siteId]);
  await shows(port, 'renamed', 'fresh');
});

test('two sites that exchange names are never confused', async () => {
  const left = await fixture.publish('left', { 'index.html': 'was left' });
  const right = await fixture.publish('right', { 'index.html': 'was right' });
  const { port } = await fixture.openEdge({ notifications: deaf });
  const rename = (id: string, name: string) => fixture.db.query('update site set name = $2 where id = $1', [id, name]);
  await rename(left.siteId, 'between');
  await rename(right.siteId, 'left');
  await rename(left.siteId, 'right');
  await shows(port, 'left', 'was right');
  await shows(port, 'right', 'was left');
  expect((await ask(port, '/', { host: 'between.sites.test' })).status).toBe(404);
});

test('a database restored from a copy is trusted, and unknown sites are dropped', async () => {
  const { siteId } = await fixture.publish('undone', { 'index.html': 'undone' });
  const stays = await fixture.publish('stays', { 'index.html': 'stays' });
  let putBack = false;
  const through = (database: EdgeDatabase): EdgeDatabase => ({
    ...database,
    // Its transactions count from where the copy was taken.
    sitesChangedSince: async (mark) => ({ ...(await database.sitesChangedSince(mark)), ...(putBack && { mark: '3' }) }),
  });
  const { port } = await fixture.openEdge({ notifications: deaf, through });
  await shows(port, 'undone', 'undone');
  await fixture.db.query('update site set live_deployment_id = null where id = $1', [siteId]);
  await fixture.db.query('delete from deployment where site_id = $1', [siteId]);
  await fixture.db.query('delete from site where id = $1', [siteId]);
  putBack = true;
  await shows(port, 'undone', 'We can’t find this site');
  expect((await ask(port, '/', { host: 'stays.sites.test' })).text).toBe('stays');
  putBack = false;
  await fixture.point(
    stays.siteId,
    await fixture.addDeployment(stays.siteId, await fixture.keep({ 'index.html': 'moves on' })),
  );
  await shows(port, 'stays', 'moves on');
});

test('after a failover to another server, everything is read again', async () => {
  const { siteId } = await fixture.publish('lost', { 'index.html': 'before' });
  let tookOver = false;
  const through = (database: EdgeDatabase): EdgeDatabase => {
    const told = <T extends object>(answer: T) => ({ ...answer, ...(tookOver && { server: 'another' }) });
    return {
      ...database,
      async *allSites() {
        for await (const part of database.allSites()) yield told(part);
      },
      // What a lost transaction changed, or its loss did, no mark tells of.
      sitesChangedSince: async (mark) => told({ ...(await database.sitesChangedSince(mark)), sites: [] }),
    };
  };
  const { port } = await fixture.openEdge({ notifications: deaf, through });
  await shows(port, 'lost', 'before');
  await fixture.point(siteId, await fixture.addDeployment(siteId, await fixture.keep({ 'index.html': 'after' })));
  tookOver = true;
  await shows(port, 'lost', 'after');
});

test('more changes than one answer has are read with all sites', async () => {
  const names = ['many', 'more', 'most'];
  const sites = await Promise.all(names.map((name) => fixture.publish(name, { 'index.html': 'before' })));
  const narrow = openEdgeDatabase(fixture.database.url, 1);
  const { port } = await fixture.openEdge({ notifications: deaf, through: () => narrow });
  for (const name of names) await shows(port, name, 'before');
  expect(await narrow.sitesChangedSince('3')).toMatchObject({ isPartial: true });
  for (const { siteId } of sites) await publishAgain(siteId, { 'index.html': 'after' });
  for (const name of names) await shows(port, name, 'after');
});

test('an edge notices a restart of the server, and another database', async () => {
  const database = openEdgeDatabase(fixture.database.url);
  onTestFinished(() => database.close());
  const parts: SiteChanges[] = [];
  for await (const part of database.allSites()) parts.push(part);
  const { rows } = await fixture.db.query(
    'select extract(epoch from pg_postmaster_start_time())::text as started, oid from pg_database where datname = current_database()',
  );
  const { mark, server } = parts[0] as SiteChanges;
  expect(server).toBe(`${rows[0].started} ${rows[0].oid}`);
  expect((await database.sitesChangedSince(mark)).server).toBe(server);
});

test('during 100 pointer moves every response is complete and of one version', async () => {
  const versions = await Promise.all(
    [0, 1].map((n) =>
      fixture.keep({
        'index.html': `version ${n} `.repeat(50),
        'only.css': `/* ${n} */ `.repeat(50),
        [`p${n}.html`]: `page ${n}`,
      }),
    ),
  );
  const siteId = await fixture.addSite('flip');
  const deployments = await Promise.all(versions.map((manifest) => fixture.addDeployment(siteId, manifest)));
  const { port } = await fixture.openEdge();
  await fixture.point(siteId, deployments[0] as string);
  await shows(port, 'flip', 'version 0');

  const bodyOf = new Map<string, string>();
  const answers: Answer[] = [];
  let moving = true;
  const visitor = async (path: string) => {
    while (moving) {
      const answer = await ask(port, path, { host: 'flip.sites.test' });
      answers.push(answer);
      const known = bodyOf.get(`${path}${answer.headers.etag}`);
      if (known === undefined) bodyOf.set(`${path}${answer.headers.etag}`, answer.text);
      else expect(answer.text).toBe(known);
    }
  };
  const visitors = ['/', '/only.css', '/', '/only.css'].map(visitor);
  for (let n = 1; n <= 100; n++) await fixture.point(siteId, deployments[n % 2] as string);
  await shows(port, 'flip', 'version 0');
  moving = false;
  await Promise.all(visitors);

  expect(answers.length).toBeGreaterThan(100);
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  expect(bodyOf.size).toBe(4);
  for (const answer of answers) {
    const numbers = new Set(answer.text.match(/\d/g));
    expect(numbers.size).toBe(1);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
  }
});

describe('without the database', () => {
  test('known sites are served, and missed changes are seen afterwards', async () => {
    const lone = await createFixture();
    try {
      const { siteId } = await lone.publish('calm', { 'index.html': 'calm', 'late.html': 'not read before' });
      const { port } = await lone.openEdge();
      await shows(port, 'calm', 'calm');
      await cutOff(lone, true);
      await until(async () => lone.logged.some((line) => line.msg.startsWith('the database is not responding')));
      expect((await ask(port, '/late', { host: 'calm.sites.test' })).text).toBe('not read before');
      expect((await ask(port, '/_astro/x.AbCd1234.js', { host: 'calm.sites.test' })).status).toBe(404);
      expect((await ask(port, '/', { host: 'nobody.sites.test' })).status).toBe(404);
      await cutOff(lone, false);
      await lone.point(siteId, await lone.addDeployment(siteId, await lone.keep({ 'index.html': 'back again' })));
      await shows(port, 'calm', 'back again');
    } finally {
      await lone.close();
    }
  });

  test('an edge that starts serves the sites it knew before', async () => {
    await fixture.publish('kept', { 'index.html': 'kept' });
    const before = await fixture.openEdge();
    await shows(before.port, 'kept', 'kept');
    await before.close();
    const { port } = await fixture.openEdge({ notifications: deaf, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    expect((await ask(port, '/', { host: 'kept.sites.test' })).text).toBe('kept');
  });
});

/** Ends all connections of others to the world's database and takes no new ones, or takes them again. */
async function cutOff(lone: Fixture, cut: boolean): Promise<void> {
  const name = new URL(lone.database.url).pathname.slice(1);
  const admin = await fixture.db.connect();
  try {
    await admin.query(`alter database ${name} with allow_connections ${!cut}`);
    if (cut) await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  } finally {
    admin.release();
  }
}
