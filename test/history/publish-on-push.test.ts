/** Pushes that are published at once, whatever happens in between. */
import { afterAll, expect, test } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { goLive } from '#db/deployments/transitions.ts';
import { hourMs } from '#rules/time.ts';
import { createFixture } from '#test/api/fixture.ts';
import { cloneSite, pushesOf, startKilledApi } from './cloned-site.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

const onPush = { 'frontage.toml': 'publish_on_push = true\n' };
type Site = Pick<Awaited<ReturnType<typeof cloneSite>>, 'owner' | 'siteId'>;
const versionsOf = async ({ owner, siteId }: Site) =>
  (await owner.call('GET', `/v1/sites/${siteId}/deployments`)).body.items;
const rowsOf = ({ siteId }: Site) =>
  fixture.deps.em().execute('select id from accepted_push where site_id = ?', [siteId]);
async function becomeLive(id: string) {
  await claimBuild(fixture.deps.em(), fixture.deps.clock, id);
  await fixture.deps.em().nativeUpdate(Deployment, { id }, { manifestSha256: '0'.repeat(64), status: 'storing' });
  await goLive(fixture.deps.em(), fixture.deps.clock, id);
}
const settled = (site: Site) => expect.poll(() => rowsOf(site), { timeout: 20_000 }).toEqual([]);

test('a push is published if the site says so and the password may', async () => {
  const site = await cloneSite(fixture, { publish: true, files: onPush });
  const { stderr } = await site.push();
  expect(stderr).toContain('Publishing, as publish_on_push says.');
  expect(stderr).toContain(`GET /v1/sites/${site.siteId}/deployments`);
  await settled(site);
  expect(await versionsOf(site)).toMatchObject([
    { number: 1, source_commit: site.to, created_by: site.owner.accountId },
  ]);
  const { items } = (await site.owner.call('GET', `/v1/sites/${site.siteId}/history`)).body;
  expect(items).toContainEqual(
    expect.objectContaining({ action: 'site.published', via: { kind: 'git', name: 'first' } }),
  );
  const [{ id }] = await versionsOf(site);
  await becomeLive(id);
  const { items: news } = (await site.owner.call('GET', '/v1/inbox')).body;
  const name = expect.stringContaining('sent with git are live as version 1');
  expect(news).toContainEqual(expect.objectContaining({ kind: 'push_published', id, who: 'first', title: name }));
  // A slot is no publish.
  await site.commit({ 'src/c.md': 'c' });
  expect((await site.push(fixture.url, 'preview/1')).stderr).not.toContain('Publishing');
  await settled(site);
  expect(await versionsOf(site)).toHaveLength(1);
});

test('a password for git is described as what it does', async () => {
  const owner = await fixture.newCaller();
  const { paths } = (await owner.call('GET', '/openapi.json')).body;
  const { requestBody } = paths['/v1/sites/{id}/git-credentials'].post;
  const { schema } = requestBody.content['application/json'];
  expect(JSON.stringify(schema.properties.publish)).toMatch(/publishes the site, if .*publish_on_push = true/);
  expect(JSON.stringify(schema)).not.toContain('no effect');
});

test('a push is not published without the setting or with another password', async () => {
  const unset = await cloneSite(fixture, { publish: true });
  expect((await unset.push()).stderr).not.toContain('ublish');
  await settled(unset);
  const plain = await cloneSite(fixture, { files: onPush });
  expect((await plain.push()).stderr).toContain('this password may not publish');
  await settled(plain);
  // The setting is that of the tip after the push.
  const ended = await cloneSite(fixture, { ...plain, publish: true, files: { 'frontage.toml': '' } });
  await ended.push();
  await settled(ended);
  for (const site of [unset, plain]) {
    expect(await pushesOf(site)).not.toEqual([]);
    expect(await versionsOf(site)).toEqual([]);
  }
});

test('a push that cannot be published is a failed version in the inbox', async () => {
  const site = await cloneSite(fixture, { files: onPush });
  await site.push();
  const posts = await cloneSite(fixture, {
    ...site,
    repository: 'content',
    publish: true,
    files: { 'posts/a.md': '---\ntitle: A\n---\n' },
  });
  expect((await posts.push()).stderr).toContain('Publishing, as publish_on_push says.');
  await settled(site);
  expect(await versionsOf(site)).toMatchObject([
    { number: 1, status: 'failed', kind: 'posts', error: { code: 'no_live_version' } },
  ]);
  const { items } = (await site.owner.call('GET', '/v1/inbox')).body;
  expect(items).toContainEqual(
    expect.objectContaining({ kind: 'failed_build', message: expect.stringContaining('is not live yet') }),
  );
});

test('a push is published once although the API was killed before it could', { timeout: 180_000 }, async () => {
  const site = await cloneSite(fixture, { publish: true, files: onPush });
  const { url, ended } = await startKilledApi(fixture, site.to);
  await site.push(url);
  expect(await ended).toBe('SIGKILL');
  expect(await versionsOf(site)).toEqual([]);
  // The database may still hold the locks of the killed process.
  await expect.poll(() => sweep(fixture.deps).then(() => versionsOf(site)), { timeout: 20_000 }).toHaveLength(1);
  // As if the process had been killed after the publish.
  const em = fixture.deps.em();
  await em.execute(
    `insert into accepted_push (id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id, may_publish, recorded)
     select replace(id, 'dep_', 'hist_') || ' main', created_at, site_id, 'source', 'main', null, source_commit, created_by_id, true, true
     from deployment where site_id = ?`,
    [site.siteId],
  );
  await Promise.all([sweep(fixture.deps), sweep(fixture.deps)]);
  await settled(site);
  expect(await versionsOf(site)).toHaveLength(1);
});

test('a push beyond the hourly limit is published when the limit allows it', async () => {
  const site = await cloneSite(fixture, { publish: true, files: onPush });
  const em = fixture.deps.em();
  const fill = `insert into deployment (id, site_id, number, kind, status, ticket, site_url, created_by_id, created_via, created_at)
    select 'dep_' || right(?, 20) || lpad(n::text, 6, '0'), ?, -n, 'site', 'cancelled', 0, '', ?, 'token', ? from generate_series(1, 1000) n`;
  await em.execute(fill, [site.siteId, site.siteId, site.owner.accountId, fixture.deps.clock.now()]);
  await site.push();
  await expect.poll(() => pushesOf(site), { timeout: 20_000 }).toHaveLength(1);
  await sweep(fixture.deps);
  expect(await rowsOf(site)).toHaveLength(1);
  // However many of its pushes wait, those of other sites are published.
  const other = await cloneSite(fixture, { publish: true, files: onPush });
  await other.push();
  await settled(other);
  const columns = 'id, accepted_at, site_id, repository, branch, to_commit, account_id, may_publish, recorded';
  const add = (id: string, count: number, { siteId, to, owner }: typeof site) =>
    em.execute(
      `insert into accepted_push (${columns})
       select ${id}, ?, ?, 'source', 'main', ?, ?, true, true from generate_series(1, ${count}) n`,
      [fixture.deps.clock.now(), siteId, to, owner.accountId],
    );
  await add(`'hist_' || lpad(n::text, 26, '0') || ' main'`, 600, site);
  await add(`'hist_7' || repeat('z', 25) || ' main'`, 1, other);
  await sweep(fixture.deps);
  expect([await rowsOf(other), (await rowsOf(site)).length]).toEqual([[], 601]);
  await em.execute(`delete from accepted_push where id like 'hist_0000%'`);
  await em.execute('update deployment set created_at = ? where site_id = ?', [
    new Date(fixture.deps.clock.now().getTime() - hourMs - 1),
    site.siteId,
  ]);
  await sweep(fixture.deps);
  await settled(site);
  const made = await em.execute('select number from deployment where site_id = ? and source_commit = ?', [
    site.siteId,
    site.to,
  ]);
  expect(made).toEqual([{ number: 1 }]);
});
