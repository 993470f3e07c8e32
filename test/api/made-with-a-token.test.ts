/** What a token makes ends when it is revoked. */
import { afterAll, expect, test } from 'vitest';
import { everything } from '#rules/scopes.ts';
import { type Caller, callWith, createFixture, createSite, errorOf } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const site = await createSite(owner, { template: 'blank' });

async function newToken(by: Caller): Promise<Caller & { id: string }> {
  const { body } = await by.call('POST', '/v1/tokens', { body: { name: 'agent', scope: everything } });
  return {
    id: body.id,
    accountId: by.accountId,
    token: body.access_token,
    call: callWith(fixture.url, body.access_token),
  };
}

/** One of each kind, and whether it still works. */
async function makeAll({ call }: Caller) {
  const made = async (path: string, body: object) =>
    (await call('POST', `/v1/sites/${site.id}/${path}`, { body })).body;
  const git = await made('git-credentials', { repository: 'source', access: 'write' });
  const upload = await made('uploads', { max_files: 1 });
  const review = await made('review-links', {});
  const feed = await made('calendar-feeds', {});
  const listed = async (path: string, id: string) =>
    (await owner.call('GET', `/v1/sites/${site.id}/${path}`)).body.items.find((one: { id: string }) => one.id === id)
      ?.status === 'open';
  return async () => {
    const authorization = `Basic ${Buffer.from(`${git.username}:${git.password}`).toString('base64')}`;
    const pulls = await fetch(`${fixture.url}${new URL(git.url).pathname}/info/refs?service=git-upload-pack`, {
      headers: { authorization },
    });
    const isListed = await Promise.all([
      listed('uploads', upload.id),
      listed('review-links', review.id),
      listed('calendar-feeds', feed.id),
    ]);
    return [pulls.status === 200, ...isListed];
  };
}

const works = async ({ call }: Caller) => (await call('GET', '/v1/account')).status === 200;

test('what a token made ends with it, also through tokens that it made', async () => {
  const child = await newToken(owner);
  const grandchild = await newToken(child);
  const [others, all] = [await makeAll(owner), await makeAll(grandchild)];
  expect(await all()).toEqual([true, true, true, true]);
  expect((await owner.call('DELETE', `/v1/tokens/${child.id}`)).status).toBe(200);
  expect([await works(child), await works(grandchild), await works(owner)]).toEqual([false, false, true]);
  expect(await all()).toEqual([false, false, false, false]);
  expect(await others()).toEqual([true, true, true, true]);
});

test('a token cannot revoke one that it comes from', async () => {
  const child = await newToken(owner);
  const grandchild = await newToken(child);
  expect(errorOf(await grandchild.call('DELETE', `/v1/tokens/${child.id}`)).code).toBe('current_token');
  expect((await child.call('DELETE', `/v1/tokens/${grandchild.id}`)).status).toBe(200);
  expect([await works(child), await works(grandchild)]).toEqual([true, false]);
});

test('what is being made while its token is revoked ends too, or is refused', async () => {
  const child = await newToken(owner);
  const making = Array.from({ length: 12 }, () => child.call('POST', '/v1/tokens', { body: { name: 'late' } }));
  const revoked = owner.call('DELETE', `/v1/tokens/${child.id}`);
  const answers = await Promise.all(making);
  expect((await revoked).status).toBe(200);
  const made = answers
    .filter(({ status }) => status === 200)
    .map(({ body }) => callWith(fixture.url, body.access_token));
  for (const call of made) expect((await call('GET', '/v1/account')).status).toBe(401);
});
