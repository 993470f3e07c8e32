/** What an owner gets of a site: the operator's archive, for them alone, and only while they read it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { concurrent } from '#api/concurrency.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { importSite } from '#operator/exports/reader.ts';
import { everything } from '#rules/scopes.ts';
import { type Caller, callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createFixture, type Fixture, openInstallation } from '#test/backups/fixture.ts';
import { type Load, openLoad } from '#test/backups/load.ts';
import { sender } from '#test/output/sending.ts';
import { until } from '#test/stack/until.ts';
import { entriesOf, openArchives } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

let fixture: Fixture;
let load: Load;
let archives: Awaited<ReturnType<typeof openArchives>>;
beforeAll(async () => {
  [fixture, archives] = await Promise.all([createFixture(), openArchives()]);
  load = await openLoad(fixture);
  for (const act of Object.values(load.acts)) await act();
}, 180_000);
afterAll(async () => {
  await load?.close();
  await archives?.remove();
  await fixture?.close();
});

async function download({ token }: Pick<Caller, 'token'>, query = '', siteId: string = load.site.id) {
  const answer = await fetch(`${fixture.url}/v1/sites/${siteId}/export${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-tar');
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[a-z0-9-]+\.tar"$/);
  const path = archives.path();
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

test('an owner exports an archived site, and another installation imports it', async () => {
  const site = await createSite(load.owner);
  await sender(load.owner).publish(site, { 'index.html': '<!doctype html><title>Moved</title><p>Hello' });
  expect((await load.owner.call('POST', `/v1/sites/${site.id}/archive`)).status).toBe(200);
  const archive = await download(load.owner, '', site.id);
  const other = await openInstallation();
  try {
    const { id: accountId } = await openAccount(other.deps.em(), other.clock, {
      email: 'new@example.com',
      name: 'New',
    });
    const imported = await importSite(other, { archive, accountId });
    expect(imported).toMatchObject({ site_id: site.id });
  } finally {
    await other.close();
  }
});

test('an export contains the owner’s visitors only if wanted, and no secret of anyone', async () => {
  const [whole, without] = [await download(load.owner), await download(load.owner, '?visitors=false')];
  const texts = await Promise.all(
    [whole, without].map(async (path) =>
      String((await entriesOf(path)).find(({ name }) => name === 'site.json')?.bytes),
    ),
  );
  expect([texts[0]?.includes('Ada'), texts[1]?.includes('Ada')]).toEqual([true, false]);
  const { rows } = JSON.parse(texts[0] as string);
  expect(Object.keys(rows).sort()).toEqual(
    ['asset', 'bookable', 'booking', 'calendar', 'comment_message', 'comment_thread', 'form', 'submission'].sort(),
  );
  const secrets = await fixture.deps
    .em()
    .execute<{ hash: string }[]>(
      `select encode(hash, 'hex') as hash from token union all select encode(hash, 'hex') from git_credential`,
    );
  expect(secrets.length).toBeGreaterThan(1);
  for (const { hash } of secrets) expect(texts[0]).not.toContain(hash);
  expect(texts[0]).not.toContain(load.owner.token);
});

test('a collaborator does not get an export, and a stranger not even the site', async () => {
  const [member, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const em = fixture.deps.em();
  em.create(Collaborator, { site: load.site.id, account: member.accountId, since: fixture.clock.now() });
  await em.flush();
  const path = `/v1/sites/${load.site.id}/export`;
  expect(errorOf(await member.call('GET', path)).code).toBe('owner_only');
  expect(errorOf(await stranger.call('GET', path)).code).toBe('not_found');
  expect(errorOf(await callWith(fixture.url)('GET', path)).code).toBe('unauthorized');
});

/** The path of an export that is larger than what is under way to a client that does not read. */
async function largeExport(owner: Caller): Promise<string> {
  const site = await createSite(owner);
  const large = () => randomBytes(6_000_000).toString('base64');
  const files = { 'index.html': '<!doctype html><title>L</title>', 'one.txt': large(), 'two.txt': large() };
  await sender(owner).publish(site, files);
  return `/v1/sites/${site.id}/export`;
}

/** As many exports as an account can have at a time, of which nothing is read. */
async function unread(path: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return await Promise.all(
    Array.from({ length: concurrent.exports.each }, async () => {
      const call = get(fixture.url + path, { headers, agent: false }).on('error', () => {});
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      expect(response.statusCode).toBe(200);
      return { call, response };
    }),
  );
}

test.each(['revoked', 'rotated'])('an export ends when its token is %s', async (how) => {
  const owner = await fixture.newCaller();
  const body = { name: 'agent', scope: everything, expires_at: '2099-01-01T00:00:00Z' };
  const { body: made } = await owner.call('POST', '/v1/tokens', { body });
  const path = await largeExport(owner);
  const held = await unread(path, made.access_token);
  const next = () => owner.call('GET', path);
  expect(errorOf(await next()).code).toBe('rate_limited');
  const own = `/v1/tokens/${made.id}`;
  const ended =
    how === 'revoked'
      ? await owner.call('DELETE', own)
      : await callWith(fixture.url, made.access_token)('POST', `${own}/rotate`);
  expect(ended.status).toBe(200);
  await until(next, ({ status }) => status === 200);
  for (const { response } of held) {
    await new Promise((resolve) => response.once('close', resolve).resume());
    expect(response.complete).toBe(false);
  }
});

test('an account exports two sites at a time, each until its client disconnects', async () => {
  const path = await largeExport(load.owner);
  const held = (await unread(path, load.owner.token)).map(({ call }) => call);
  const next = () => load.owner.call('GET', path);
  expect(errorOf(await until(next, ({ status }) => status === 429)).code).toBe('rate_limited');
  held.pop()?.destroy();
  await until(next, ({ status }) => status === 200);
  for (const call of held) call.destroy();
});
