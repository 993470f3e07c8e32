import { afterAll, expect, test } from 'vitest';
import { Deployment } from '#db/deployments/deployment.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { Site } from '#db/sites/site.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import { createFixture, createSite, errorOf, freeName } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const make = (body: Record<string, unknown>) => owner.call('POST', '/v1/sites', { body });

/** A deployment of the site as the database holds one. */
async function addDeployment(siteId: string, status: 'queued' | 'building' | 'live', commits: [string, string]) {
  const em = fixture.deps.em();
  const site = await em.findOneOrFail(Site, { id: siteId });
  site.lastTicket += 1;
  site.lastNumber += 1;
  const deployment = em.create(Deployment, {
    id: newId('dep'),
    site,
    number: site.lastNumber,
    kind: 'site',
    status,
    ticket: site.lastTicket,
    siteUrl: `http://${site.name}.sites.localhost:4480`,
    sourceCommit: commits[0],
    contentCommit: commits[1],
    manifestSha256: status === 'live' ? '0'.repeat(64) : null,
    createdBy: site.account,
    createdAt: fixture.clock.now(),
  });
  await em.flush();
  if (status === 'live') site.liveDeploymentId = deployment.id;
  await em.flush();
  return deployment.id;
}

const heads = async (siteId: string): Promise<[string, string]> => {
  const { repositories } = fixture.deps;
  const both = [await repositories?.head(siteId, 'source'), await repositories?.head(siteId, 'content')];
  return [both[0] ?? '', both[1] ?? ''];
};

test('a new site has its address, both repositories with the template, and nothing live', async () => {
  const name = freeName();
  const { status, body } = await make({ name, title: ' Bäckerei Ölmühle 🥐 ' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name,
    title: 'Bäckerei Ölmühle 🥐',
    template: 'blank',
    status: 'active',
    address: `http://${name}.sites.localhost:4480`,
    git: {
      source: `${fixture.config.baseUrl}/git/${body.id}.git`,
      content: `${fixture.config.baseUrl}/git/${body.id}.content.git`,
    },
    live_deployment_id: null,
    open_comments: 0,
    role: 'owner',
    archived_at: null,
  });
  expect(await heads(body.id)).toEqual([
    expect.stringMatching(/^[0-9a-f]{40}$/),
    expect.stringMatching(/^[0-9a-f]{40}$/),
  ]);
  expect((await owner.call('GET', '/v1/sites')).body.items[0]).toEqual(body);
});

test.each([
  'a',
  'x'.repeat(41),
  'Upper',
  'with space',
  'dots.in.it',
  '-front',
  'back-',
  'xn--bcher-kva',
  'two--hyphens',
  'under_score',
  'ümlaut',
  'www',
  'api',
  'mail',
  'localhost',
])('the name %s is invalid_name', async (name) => {
  const answer = await make({ name, title: 'A' });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_name']);
});

test('names of 2 and of 40 characters are accepted', async () => {
  expect((await make({ name: 'ab', title: 'A' })).status).toBe(200);
  expect((await make({ name: 'x'.repeat(40), title: 'A' })).status).toBe(200);
});

test('among twenty concurrent requests for one name, one succeeds', async () => {
  const name = freeName();
  const answers = await Promise.all(Array.from({ length: 20 }, () => make({ name, title: 'A' })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map((answer) => errorOf(answer).code)).toEqual(Array(19).fill('invalid_name'));
});

test('a site without a template has no source, and absent is not null', async () => {
  const site = await createSite(owner, { template: null });
  expect(site.template).toBeNull();
  for (const path of ['publish', 'previews/1']) {
    const answer = await owner.call('POST', `/v1/sites/${site.id}/${path}`, { headers: { prefer: 'respond-async' } });
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'no_source']);
  }
  expect((await createSite(owner)).template).toBe('blank');
  expect(errorOf(await make({ name: freeName(), title: 'A', template: '' })).code).toBe('invalid_template');
});

test('every listed template creates a site', async () => {
  const { body } = await owner.call('GET', '/v1/templates');
  expect(body.items.length).toBeGreaterThan(0);
  for (const template of body.items) {
    const site = await createSite(owner, { template: template.name });
    expect(site.template).toBe(template.name);
  }
});

test('a site is invisible to other accounts', async () => {
  const stranger = await fixture.newCaller();
  const { id } = await createSite(owner);
  const calls = [
    stranger.call('GET', `/v1/sites/${id}`),
    stranger.call('PATCH', `/v1/sites/${id}`, { body: { title: 'Mine' } }),
    stranger.call('POST', `/v1/sites/${id}/archive`),
    stranger.call('POST', `/v1/sites/${id}/unarchive`),
  ];
  const unknown = errorOf(await stranger.call('GET', `/v1/sites/${newId('site')}`));
  for (const answer of await Promise.all(calls)) expect([answer.status, errorOf(answer)]).toEqual([404, unknown]);
  expect((await stranger.call('GET', '/v1/sites')).body.items).toEqual([]);
});

test('a site lists its unpublished changes', async () => {
  const { id } = await createSite(owner);
  const changes = async () => {
    const { body } = await owner.call('GET', `/v1/sites/${id}`);
    return [body.has_unpublished_changes, body.unpublished_changes];
  };
  expect(await changes()).toEqual([true, { source: true, content: true, address: false }]);
  const live = await addDeployment(id, 'live', await heads(id));
  expect(await changes()).toEqual([false, { source: false, content: false, address: false }]);
  expect((await owner.call('GET', `/v1/sites/${id}`)).body.live_deployment_id).toBe(live);
  const [, content] = await heads(id);
  await fixture.deps.repositories?.commit(id, 'content', {
    parent: content,
    message: 'A post',
    author: { name: 'Ada', email: 'ada@example.com' },
    at: fixture.clock.now(),
    changes: [{ path: 'posts/new.md', bytes: Buffer.from('# New') }],
  });
  expect(await changes()).toEqual([true, { source: false, content: true, address: false }]);
});

test('title and name change, and the address with the name', async () => {
  const [one, two] = [await createSite(owner), await createSite(owner)];
  const path = `/v1/sites/${one.id}`;
  const { body: before } = await owner.call('GET', path);
  expect(before).toMatchObject(one);
  const titled = (await owner.call('PATCH', path, { body: { title: 'New' } })).body;
  const next_action = expect.stringContaining('The site’s own pages stay as they are');
  expect(titled).toEqual({ ...before, title: 'New', next_action });
  const name = freeName();
  const { body } = await owner.call('PATCH', path, { body: { name } });
  expect([body.name, body.title, body.address]).toEqual([name, 'New', `http://${name}.sites.localhost:4480`]);
  for (const taken of [two.name, 'www', 'No']) {
    expect(errorOf(await owner.call('PATCH', path, { body: { name: taken } })).code).toBe('invalid_name');
  }
  expect(errorOf(await owner.call('PATCH', path, { body: {} })).code).toBe('nothing_to_update');
  expect(errorOf(await owner.call('PATCH', path)).code).toBe('nothing_to_update');
  expect((await owner.call('PATCH', path, { body: { name } })).status).toBe(200);
  expect(errorOf(await make({ name: one.name, title: 'Takes the old name' })).code).toBe('invalid_name');
});

test('an archived site can be read and unarchived, and keeps its name', async () => {
  const site = await createSite(owner);
  const archived = (await owner.call('POST', `/v1/sites/${site.id}/archive`)).body;
  expect(archived).toEqual({ ...site, status: 'archived', archived_at: expect.any(String) });
  expect((await owner.call('POST', `/v1/sites/${site.id}/archive`)).body).toEqual(archived);
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).status).toBe(200);
  const change = await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'B' } });
  expect([change.status, errorOf(change).code]).toEqual([409, 'site_archived']);
  expect(errorOf(change).message).toBe(`The site ${site.name} is archived and cannot be changed.`);
  expect(errorOf(await make({ name: site.name, title: 'A' })).code).toBe('invalid_name');
  expect((await owner.call('POST', `/v1/sites/${site.id}/unarchive`)).body).toEqual(site);
  expect((await owner.call('POST', `/v1/sites/${site.id}/unarchive`)).body).toEqual(site);
});

test('archiving cancels running builds and their workflows', async () => {
  const { id } = await createSite(owner);
  const live = await addDeployment(id, 'live', ['a', 'b']);
  const unfinished = [await addDeployment(id, 'building', ['a', 'b']), await addDeployment(id, 'queued', ['a', 'b'])];
  await owner.call('POST', `/v1/sites/${id}/archive`);
  const em = fixture.deps.em();
  const rows = await em.find(Deployment, { site: id }, { orderBy: { number: 'asc' } });
  expect(rows.map((row) => [row.id, row.status, row.finishedAt !== null])).toEqual([
    [live, 'live', false],
    [unfinished[0], 'cancelled', true],
    [unfinished[1], 'cancelled', true],
  ]);
  const told = await em.find(OutboxEntry, {
    kind: 'cancel',
    workflowId: { $in: unfinished.map(workflowIds.publishSite) },
  });
  expect(told).toHaveLength(2);
});

test('the cap on sites holds under concurrent calls, and archived sites do not count', async () => {
  const many = await fixture.newCaller();
  const em = fixture.deps.em();
  const first = await createSite(many);
  for (let n = 0; n < 47; n++) {
    await em.execute(
      `insert into site (id, account_id, name, title, template, status, public_id, created_at)
       values (?, ?, ?, 'A', 'blank', 'active', ?, ?)`,
      [newId('site'), many.accountId, freeName(), newId('site'), fixture.clock.now()],
    );
  }
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => many.call('POST', '/v1/sites', { body: { name: freeName(), title: 'A' } })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(answers.filter((answer) => answer.status === 402 && errorOf(answer).code === 'plan_limit')).toHaveLength(4);
  expect((await many.call('GET', '/v1/account')).body.limits.sites).toEqual({ value: 50, used: 50 });
  await many.call('POST', `/v1/sites/${first.id}/archive`);
  await createSite(many);
  const back = await many.call('POST', `/v1/sites/${first.id}/unarchive`);
  expect([back.status, errorOf(back).code]).toEqual([402, 'plan_limit']);
});

test('without repositories no site is created', async () => {
  const bare = await createFixture({ FRONTAGE_REPOSITORIES: 'none' });
  try {
    const caller = await bare.newCaller();
    for (const sent of [{ body: { name: 'a-name', title: 'A' } }, { raw: '{' }]) {
      const answer = await caller.call('POST', '/v1/sites', sent);
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'no_repositories']);
    }
  } finally {
    await bare.close();
  }
});
