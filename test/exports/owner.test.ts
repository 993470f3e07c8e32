/** What an owner gets of a site: the operator's archive, for them alone, and only while they read it. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { concurrent } from '#api/concurrency.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { importSite } from '#operator/exports/reader.ts';
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

test('an account exports two sites at a time, each until its client disconnects', async () => {
  const site = await createSite(load.owner);
  const page = Array.from({ length: 300_000 }, () => Math.random().toString(36)).join('\n');
  await sender(load.owner).publish(site, { 'index.html': '<!doctype html><title>L</title>', 'large.txt': page });
  const path = `/v1/sites/${site.id}/export`;
  const headers = { authorization: `Bearer ${load.owner.token}` };
  const held = await Promise.all(
    Array.from({ length: concurrent.exports.each }, async () => {
      const call = get(fixture.url + path, { headers, agent: false }).on('error', () => {});
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      expect(response.statusCode).toBe(200);
      return call;
    }),
  );
  const next = () => load.owner.call('GET', path);
  expect(errorOf(await until(next, ({ status }) => status === 429)).code).toBe('rate_limited');
  held.pop()?.destroy();
  await until(next, ({ status }) => status === 200);
  for (const call of held) call.destroy();
});
