/** Git credentials: who sees and revokes them. */
import { afterAll, expect, test } from 'vitest';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { type Caller, createFixture, createSite, errorOf } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const helper = await fixture.newCaller();
const stranger = await fixture.newCaller();

async function newSite(): Promise<string> {
  const { id } = await createSite(owner);
  const em = fixture.deps.em();
  em.create(Collaborator, { site: id, account: helper.accountId, since: fixture.clock.now() });
  await em.flush();
  return id;
}

const make = async ({ call }: Caller, siteId: string, more: object = {}) => {
  const body = { repository: 'source', access: 'write', ...more };
  return (await call('POST', `/v1/sites/${siteId}/git-credentials`, { body })).body;
};
const listed = async ({ call }: Caller, siteId: string, query = '') =>
  (await call('GET', `/v1/sites/${siteId}/git-credentials${query}`)).body;
const idsOf = async (caller: Caller, siteId: string) =>
  (await listed(caller, siteId)).items.map(({ id }: { id: string }) => id);
const revoke = ({ call }: Caller, id: string) => call('DELETE', `/v1/git-credentials/${id}`);
const refs = ({ url, username, password }: Record<string, string>) =>
  fetch(`${fixture.url}${new URL(url ?? '').pathname}/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
  });

test('a credential is listed without its password, with its maker and last use', async () => {
  const siteId = await newSite();
  const made = await make(owner, siteId, { publish: true, expires_in_seconds: 3600 });
  const { password, ...shown } = made;
  expect(password).toMatch(/^frg_/);
  expect(shown).toMatchObject({
    site_id: siteId,
    publish: true,
    created_by: owner.accountId,
    created_via: { kind: 'token', name: 'first' },
    last_used_at: null,
  });
  expect(await listed(owner, siteId)).toEqual({ items: [shown], next_cursor: null });
  expect((await refs(made)).status).toBe(200);
  const [used] = (await listed(owner, siteId)).items;
  expect(Math.abs(Date.parse(used.last_used_at) - fixture.clock.now().getTime())).toBeLessThan(60_000);
  expect((await make(owner, siteId)).publish).toBe(false);
});

test('a use is written at most once a minute, and not if refused', async () => {
  const siteId = await newSite();
  const made = await make(owner, siteId, { access: 'read' });
  const lastUse = async () => (await listed(owner, siteId)).items[0].last_used_at;
  expect((await refs({ ...made, password: 'frg_wrong' })).status).toBe(401);
  expect(await lastUse()).toBeNull();
  await refs(made);
  const first = await lastUse();
  fixture.skip(50_000);
  await refs(made);
  expect(await lastUse()).toBe(first);
  fixture.skip(10_001);
  await refs(made);
  expect(Date.parse(await lastUse()) - Date.parse(first)).toBeGreaterThanOrEqual(60_000);
});

test('the owner sees and revokes all credentials of a site, others their own', async () => {
  const siteId = await newSite();
  const [mine, theirs, third] = [await make(owner, siteId), await make(helper, siteId), await make(helper, siteId)];
  expect(await idsOf(owner, siteId)).toEqual([third.id, theirs.id, mine.id]);
  expect(await idsOf(helper, siteId)).toEqual([third.id, theirs.id]);
  expect((await listed(owner, siteId)).items[0]).toMatchObject({
    created_by: helper.accountId,
    created_via: { kind: 'token', name: null },
  });
  for (const [who, id] of [
    [helper, mine.id],
    [stranger, theirs.id],
    [owner, 'cred_01h455vb4pex5vsknk084sn02q'],
    [owner, 'x'],
  ] as const) {
    expect(errorOf(await revoke(who, id)).code).toBe('not_found');
  }
  expect((await revoke(owner, theirs.id)).body).toMatchObject({ id: theirs.id, revoked_at: expect.any(String) });
  expect((await revoke(helper, third.id)).status).toBe(200);
  expect([(await refs(theirs)).status, (await refs(third)).status, (await refs(mine)).status]).toEqual([401, 401, 200]);
  expect(await idsOf(owner, siteId)).toEqual([mine.id]);
  expect(errorOf(await revoke(owner, theirs.id)).code).toBe('not_found');
});

test('expired credentials are not listed', async () => {
  const siteId = await newSite();
  const [short, long] = [await make(owner, siteId, { expires_in_seconds: 60 }), await make(owner, siteId)];
  fixture.skip(60_001);
  expect(await idsOf(owner, siteId)).toEqual([long.id]);
  expect(errorOf(await revoke(owner, short.id)).code).toBe('not_found');
});

test('the list has pages', async () => {
  const siteId = await newSite();
  const ids = [(await make(owner, siteId)).id, (await make(owner, siteId)).id].reverse();
  const first = await listed(owner, siteId, '?limit=1');
  const second = await listed(owner, siteId, `?limit=1&cursor=${first.next_cursor}`);
  expect([first.items[0].id, second.items[0].id, second.next_cursor]).toEqual([...ids, null]);
});

test('a repeated call with one key shows the same password', async () => {
  const siteId = await newSite();
  const sent = { body: { repository: 'source', access: 'read' }, headers: { 'idempotency-key': siteId } };
  const ask = async () => (await owner.call('POST', `/v1/sites/${siteId}/git-credentials`, sent)).body;
  const first = await ask();
  expect(await ask()).toEqual(first);
  expect(await idsOf(owner, siteId)).toEqual([first.id]);
});
