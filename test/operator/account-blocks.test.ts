/** An account that a person of the platform has stopped: what it, its sites and others' sites are meanwhile, and after. */
import { afterAll, expect, test } from 'vitest';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { goLive, takeTicket } from '#db/deployments/transitions.ts';
import { Mail } from '#db/mail/mail.ts';
import { notifyAddress } from '#db/sites/notify-address.ts';
import { Site } from '#db/sites/site.ts';
import { blockSite } from '#db/sites/transitions.ts';
import { newId } from '#runtime/ids.ts';
import { createSite, errorOf, freeName } from '#test/api/fixture.ts';
import { type Caller, createFixture } from '#test/output/fixture.ts';

const fixture = await createFixture({
  FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1',
  FRONTAGE_CHALLENGE_KEY: 'a key of the tests, long enough',
});
afterAll(() => fixture.close());

const page = '<!doctype html><title>T</title><h1>Hello</h1>';
const reason = 'Its sites ask visitors for passwords of a bank.';
const block = ({ accountId }: Caller, why = reason) => blockAccount(fixture.deps.em(), fixture, accountId, why);
const unblock = ({ accountId }: Caller) => unblockAccount(fixture.deps.em(), fixture, accountId);
const refused = { code: 'access_denied', message: expect.stringContaining(reason), retryable: false };

async function join({ accountId }: Caller, site: { id: string }) {
  const em = fixture.deps.em();
  em.create(Collaborator, { site: site.id, account: accountId, since: fixture.clock.now() });
  await em.flush();
}

/** What git is answered when it asks what there is to fetch. */
async function gitOf(site: { git: { source: string } }, { username, password }: Record<string, string>) {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const address = `${fixture.url}${new URL(site.git.source).pathname}/info/refs?service=git-upload-pack`;
  const answer = await fetch(address, { headers: { authorization } });
  return { status: answer.status, text: await answer.text() };
}

test('each entry point returns the reason, running calls end, and unblocking restores all', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const access = { repository: 'source', access: 'read' };
  const password = (await owner.call('POST', `/v1/sites/${site.id}/git-credentials`, { body: access })).body;
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = { accept: 'application/json, text/event-stream' };
  const tools = () => owner.call('POST', '/mcp', { body: asked, headers: accept });
  expect([(await tools()).status, (await gitOf(site, password)).status]).toEqual([200, 200]);
  const waiting = owner.call('GET', '/v1/inbox?wait=1');
  await block(owner);
  for (const [method, path] of [
    ['GET', '/v1/account'],
    ['GET', `/v1/sites/${site.id}`],
    ['POST', `/v1/sites/${site.id}/publish`],
    ['GET', '/v1/tokens'],
  ] as const) {
    const answer = await owner.call(method, path);
    expect([answer.status, errorOf(answer)]).toEqual([403, expect.objectContaining(refused)]);
  }
  expect((await tools()).status).toBe(403);
  expect(await gitOf(site, password)).toEqual({ status: 403, text: expect.stringContaining(reason) });
  // It began before, and says nothing of the account any more.
  expect(errorOf(await waiting)).toMatchObject(refused);
  await unblock(owner);
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({ blocked: null, status: 'active' });
  expect([(await tools()).status, (await gitOf(site, password)).status]).toEqual([200, 200]);
});

test('a blocked account’s sites return 451 on every edge, and return unchanged', async () => {
  const owner = await fixture.newCaller();
  const [site, stopped] = [await createSite(owner), await createSite(owner)];
  for (const { id } of [site, stopped]) await fixture.publish(id, owner.accountId, { 'index.html': page });
  await blockSite(fixture.deps.em(), fixture.clock, stopped.id, 'For a reason of its own.');
  const fields = [{ name: 'words', label: 'Words', kind: 'text', required: true }];
  const form = (await owner.call('POST', `/v1/sites/${site.id}/forms`, { body: { name: 'Contact', fields } })).body;
  const directions = [{ name: 'One', html: page }];
  const sketch = (await owner.call('POST', '/v1/sketches', { body: { title: 'S', directions } })).body;
  const another = await fixture.openEdge();
  const ofSketch = new URL(sketch.url).hostname.split('.')[0] ?? '';
  const edges = async () => [
    (await fixture.visit(site.name, '/')).status,
    (await another.visit(site.name, '/')).status,
    (await fixture.visit(stopped.name, '/')).status,
    (await fixture.visit(ofSketch, '/')).status,
  ];
  await expect.poll(edges).toEqual([200, 200, 451, 200]);
  await block(owner);
  await expect.poll(edges).toEqual([451, 451, 451, 451]);
  expect((await fixture.visit(site.name, '/')).text).not.toContain('bank');
  const sent = await fetch(`${fixture.url}/f/${form.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ words: 'Hello' }),
  });
  expect([sent.status, ((await sent.json()) as { error: { code: string } }).error.code]).toEqual([
    409,
    'site_archived',
  ]);
  await unblock(owner);
  await expect.poll(edges).toEqual([200, 200, 451, 200]);
  await another.close();
});

test('a blocked collaborator and their links lose access, and the sites continue', async () => {
  const [owner, helper] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  await fixture.publish(site.id, owner.accountId, { 'index.html': page });
  await join(helper, site);
  const link = { expires_in_seconds: 3600, max_files: 2, max_file_bytes: 1000 };
  const { url } = (await helper.call('POST', `/v1/sites/${site.id}/uploads`, { body: link })).body;
  const opened = async () => (await fetch(`${fixture.url}${new URL(url).pathname}`)).status;
  expect(await opened()).toBe(200);
  const em = () => fixture.deps.em();
  const row = await em().findOneOrFail(Site, { id: site.id });
  const told = () => notifyAddress(em(), row, helper.accountId);
  const [ofOwner, ofHelper] = await Promise.all(
    [owner, helper].map(async (one) => (await one.call('GET', '/v1/account')).body.email),
  );
  expect(await told()).toBe(ofHelper);
  await block(helper);
  expect(errorOf(await helper.call('GET', `/v1/sites/${site.id}`))).toMatchObject(refused);
  expect(await opened()).toBe(410);
  expect(await told()).toBe(ofOwner);
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.blocked).toBe(null);
  expect((await fixture.visit(site.name, '/')).status).toBe(200);
  await unblock(helper);
  expect([await opened(), await told()]).toEqual([200, ofHelper]);
});

test('members of a blocked owner’s site see the block, and not its reason', async () => {
  const [owner, helper] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  await join(helper, site);
  await block(owner);
  const { blocked } = (await helper.call('GET', `/v1/sites/${site.id}`)).body;
  expect(blocked).toEqual({ at: expect.any(String), reason: 'The owner’s account is blocked.' });
});

test('a blocked owner’s sites show nothing new, while their source can be edited', async () => {
  const [owner, helper] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  await join(helper, site);
  const first = await fixture.publish(site.id, owner.accountId, { 'index.html': page });
  await fixture.publish(site.id, owner.accountId, { 'index.html': page.replace('Hello', 'Second') });
  const live = async () => (await fixture.deps.em().findOneOrFail(Site, { id: site.id })).liveDeploymentId;
  const before = await live();
  await block(owner);
  const at = `/v1/sites/${site.id}`;
  for (const path of [
    `${at}/publish`,
    `/v1/deployments/${first}/restore`,
    `${at}/previews/1`,
    `${at}/previews/1/update`,
    `${at}/previews/1/publish`,
    `${at}/deployments`,
  ]) {
    const answer = await helper.call('POST', path, { headers: { prefer: 'respond-async' } });
    const error = expect.objectContaining({
      code: 'site_archived',
      message: expect.stringContaining('has been blocked by the operator'),
    });
    expect([path, answer.status, errorOf(answer)]).toEqual([path, 409, error]);
  }
  // What came through before the block was written down moves nothing either.
  const ticket = await takeTicket(fixture.deps.em(), site.id);
  await goLive(fixture.deps.em(), fixture.clock, first, { restoreTicket: ticket });
  expect(await live()).toBe(before);
  const file = { message: 'Write', changes: [{ path: 'src/a.txt', text: 'a' }] };
  expect((await helper.call('POST', `${at}/commits`, { body: file })).status).toBe(200);
  await unblock(owner);
  expect((await helper.call('POST', `/v1/deployments/${first}/restore`)).status).toBe(200);
  expect(await live()).toBe(first);
});

test('builds of a blocked account are cancelled with their workflows', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const headers = { prefer: 'respond-async' };
  const { id } = (await owner.call('POST', `/v1/sites/${site.id}/publish`, { headers })).body;
  await block(owner);
  expect((await fixture.deps.em().findOneOrFail(Deployment, { id })).status).toBe('cancelled');
  const rows = await fixture.deps
    .em()
    .execute(`select 1 from outbox where kind = 'cancel' and workflow_id = ?`, [`publish:${id}`]);
  expect(rows).toHaveLength(1);
  await unblock(owner);
  expect((await owner.call('GET', `/v1/deployments/${id}`)).body.status).toBe('cancelled');
});

test('a site created during a block is blocked', async () => {
  const owner = await fixture.newCaller();
  await block(owner);
  const em = fixture.deps.em();
  const made = {
    id: newId('site'),
    name: freeName(),
    title: 'T',
    template: 'blank',
    publicId: newId('site').slice(-12),
  };
  em.create(Site, { ...made, account: owner.accountId, status: 'active', createdAt: fixture.clock.now() });
  await em.flush();
  const read = async () => (await fixture.deps.em().findOneOrFail(Site, { id: made.id })).ownerBlockedAt;
  expect(await read()).toBeInstanceOf(Date);
  await unblock(owner);
  expect(await read()).toBe(null);
});

test('the owner is mailed once for each reason, and when unblocked', async () => {
  const owner = await fixture.newCaller();
  const told = () => fixture.deps.em().count(Mail, { kind: 'account-blocked', accountId: owner.accountId });
  const { blockedAt } = await block(owner);
  await block(owner);
  expect(await told()).toBe(1);
  expect((await block(owner, 'Another.')).blockedAt).toEqual(blockedAt);
  expect(await told()).toBe(2);
  await unblock(owner);
  await unblock(owner);
  expect(await told()).toBe(3);
});

test('concurrent blocks, unblocks and calls do not deadlock', async () => {
  const owner = await fixture.newCaller();
  const sites = [await createSite(owner), await createSite(owner), await createSite(owner)];
  const rounds = Array.from({ length: 3 }, () => [
    () => block(owner),
    () => unblock(owner),
    () => createSite(owner).catch(() => {}),
    ...sites.map(
      ({ id }) =>
        () =>
          owner.call('POST', `/v1/sites/${id}/archive`),
    ),
    ...sites.map(
      ({ id }) =>
        () =>
          owner.call('POST', `/v1/sites/${id}/unarchive`),
    ),
  ]).flat();
  await Promise.all(rounds.map((act) => act()));
  await unblock(owner);
  const left = await fixture.deps.em().count(Site, { account: owner.accountId, ownerBlockedAt: { $ne: null } });
  expect(left).toBe(0);
});
