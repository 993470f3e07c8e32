/** The hosts of former names at an edge. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOrm } from '#db/orm.ts';
import { recordRename } from '#db/sites/former-names.ts';
import { systemClock } from '#runtime/clock.ts';
import { type Ask, ask, createFixture, deaf, type Fixture, until } from '#test/edge/fixture.ts';

let fixture: Fixture;
let orm: ReturnType<typeof openOrm>;
beforeAll(async () => {
  fixture = await createFixture();
  orm = openOrm(fixture.database.url);
});
afterAll(async () => {
  await orm?.close();
  await fixture?.close();
});

async function rename(siteId: string, from: string, to: string, at = systemClock.now()): Promise<void> {
  await orm.em.fork().transactional(async (tx) => {
    await tx.execute('update site set name = ? where id = ?', [to, siteId]);
    await recordRename(tx, at, siteId, { from, to });
  });
}

const askAt = (port: number, name: string, path = '/', more: Ask = {}) =>
  ask(port, path, { host: `${name}.sites.test`, ...more });
const shows = (port: number, name: string, text: string) =>
  until(async () => (await askAt(port, name)).text.includes(text));

test('a former host redirects to the present one, with path and query', async () => {
  const { siteId } = await fixture.publish('old', { 'index.html': 'Shop' });
  const { port } = await fixture.openEdge();
  await shows(port, 'old', 'Shop');
  await rename(siteId, 'old', 'new');
  await shows(port, 'new', 'Shop');
  const answer = await askAt(port, 'old', '/a%20b/?q=1&r=%2F');
  expect([answer.status, answer.headers.location]).toEqual([308, 'http://new.sites.test/a%20b/?q=1&r=%2F']);
  expect(answer.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
  expect((await askAt(port, 'OLD', '/', { method: 'HEAD' })).status).toBe(308);
  expect((await askAt(port, 'old', '/', { method: 'POST' })).status).toBe(405);

  await rename(siteId, 'new', 'newest');
  await shows(port, 'newest', 'Shop');
  for (const name of ['old', 'new'])
    expect((await askAt(port, name)).headers.location).toBe('http://newest.sites.test/');
});

test('a name that its site takes back serves it again', async () => {
  const { siteId } = await fixture.publish('first', { 'index.html': 'First' });
  const { port } = await fixture.openEdge({ notifications: deaf });
  await rename(siteId, 'first', 'second');
  await shows(port, 'second', 'First');
  await rename(siteId, 'second', 'first');
  await shows(port, 'first', 'First');
  expect((await askAt(port, 'second')).headers.location).toBe('http://first.sites.test/');
});

test('after 90 days a former host is unknown, or that of another site', async () => {
  const { siteId } = await fixture.publish('given', { 'index.html': 'Given' });
  const longAgo = new Date(systemClock.now().getTime() - 90 * 86_400_000);
  await rename(siteId, 'given', 'kept', longAgo);
  const { port } = await fixture.openEdge();
  await shows(port, 'kept', 'Given');
  expect((await askAt(port, 'given')).status).toBe(404);
  await fixture.publish('given', { 'index.html': 'Another' });
  await shows(port, 'given', 'Another');
});

test('a former host redirects also from the file, without the database', async () => {
  const { siteId } = await fixture.publish('before', { 'index.html': 'Kept' });
  await rename(siteId, 'before', 'after');
  const first = await fixture.openEdge();
  await shows(first.port, 'after', 'Kept');
  await first.close();
  const { port } = await fixture.openEdge({ databaseUrl: 'postgres://127.0.0.1:9/none', notifications: deaf });
  expect((await askAt(port, 'before', '/x?y')).headers.location).toBe('http://after.sites.test/x?y');
});
