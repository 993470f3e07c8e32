/** Who did what: the history of a site and of an account. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Site } from '#db/sites/site.ts';
import { type Caller, callWith, createFixture, createSite, errorOf } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

const execute = promisify(execFile);
const place = (siteId: string) => fixture.deps.repositories?.place(siteId, 'source').dir ?? '';

type Entry = {
  id: string;
  at: string;
  account: { id: string; name: string };
  via: { kind: string; name: string | null };
  action: string;
  subject: { kind: string; id: string; name: string | null };
  detail: Record<string, unknown>;
};

async function historyOf(caller: Caller, path: string): Promise<Entry[]> {
  const { status, body, text } = await caller.call('GET', path);
  if (status !== 200) throw new Error(text);
  return body.items;
}

/** Another account that collaborates on the site. */
async function newCollaborator(siteId: string): Promise<Caller> {
  const caller = await fixture.newCaller();
  const em = fixture.deps.em();
  em.create(Collaborator, {
    site: em.getReference(Site, siteId),
    account: em.getReference(Account, caller.accountId),
    since: fixture.clock.now(),
  });
  await em.flush();
  return caller;
}

/** The same account with another token. */
async function withToken(caller: Caller, name: string, scope?: Record<string, unknown>): Promise<Caller> {
  const { body } = await caller.call('POST', '/v1/tokens', { body: { name, ...(scope ? { scope } : {}) } });
  return { ...caller, token: body.access_token, call: callWith(fixture.url, body.access_token) };
}

test('a site’s history says what each token did, the newest first', async () => {
  const owner = await fixture.newCaller();
  const agent = await withToken(owner, 'Kitchen agent');
  const site = await createSite(owner, { title: 'Bakery' });
  await agent.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'Mira’s bakery' } });
  await agent.call('POST', `/v1/sites/${site.id}/archive`);

  const entries = await historyOf(owner, `/v1/sites/${site.id}/history`);
  expect(entries.map(({ action, via }) => [action, via.kind, via.name])).toEqual([
    ['site.archived', 'token', 'Kitchen agent'],
    ['site.updated', 'token', 'Kitchen agent'],
    ['site.created', 'token', 'first'],
  ]);
  expect(entries[1]).toMatchObject({
    id: expect.stringMatching(/^hist_/),
    account: { id: owner.accountId, name: expect.stringMatching(/^Owner /) },
    subject: { kind: 'site', id: site.id, name: site.name },
    detail: { title: { from: 'Bakery', to: 'Mira’s bakery' } },
  });
});

test('a refused call leaves no entry', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  const before = await historyOf(owner, `/v1/sites/${site.id}/history`);
  expect((await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'Late' } })).status).toBe(409);
  expect(await historyOf(owner, `/v1/sites/${site.id}/history`)).toEqual(before);
});

test('names of tokens are null to other accounts', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const other = await newCollaborator(site.id);
  await other.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'Theirs' } });

  const path = `/v1/sites/${site.id}/history`;
  const named = async (caller: Caller) =>
    (await historyOf(caller, path)).map(({ action, via, account }) => [action, via.name, account.id]);
  expect(await named(owner)).toEqual([
    ['site.updated', null, other.accountId],
    ['site.created', 'first', owner.accountId],
  ]);
  expect(await named(other)).toEqual([
    ['site.updated', 'first', other.accountId],
    ['site.created', null, owner.accountId],
  ]);
});

test('an account’s history has its sites and what it did elsewhere', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const own = await createSite(other);
  const [em, since] = [fixture.deps.em(), fixture.clock.now()];
  em.create(Collaborator, {
    site: em.getReference(Site, site.id),
    account: em.getReference(Account, other.accountId),
    since,
  });
  await em.flush();
  await other.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'Theirs' } });

  const siteIds = (entries: Entry[]) => entries.map(({ action, subject }) => [action, subject.id]);
  expect(siteIds(await historyOf(other, '/v1/account/history'))).toEqual([
    ['site.updated', site.id],
    ['site.created', own.id],
  ]);
  expect(siteIds(await historyOf(owner, '/v1/account/history'))).toEqual([
    ['site.updated', site.id],
    ['site.created', site.id],
  ]);
  expect(errorOf(await owner.call('GET', `/v1/sites/${own.id}/history`)).code).toBe('not_found');
});

test('a token for one site sees that site’s acts in the account’s history', async () => {
  const owner = await fixture.newCaller();
  const [one, two] = [await createSite(owner), await createSite(owner)];
  const scope = { sites: [one.id], access: 'read', payouts: false, account: false };
  const limited = await withToken(owner, 'Limited', scope);
  const subjects = (await historyOf(limited, '/v1/account/history')).map(({ subject }) => subject.id);
  expect([two.id === one.id, subjects]).toEqual([false, [one.id]]);
});

test('pages of a history have each entry once, and `since` cuts them', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  for (let n = 0; n < 5; n++) await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: `Title ${n}` } });
  const path = `/v1/sites/${site.id}/history`;
  const all = await historyOf(owner, path);
  expect(all).toHaveLength(6);

  const seen: Entry[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await owner.call('GET', `${path}?limit=4${at}`);
    seen.push(...body.items);
    cursor = body.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(all);

  const third = all[2] as Entry;
  const later = await historyOf(owner, `${path}?since=${encodeURIComponent(third.at)}`);
  expect(later.at(-1)?.at).toBe(third.at);
  expect(errorOf(await owner.call('GET', `${path}?since=yesterday`)).code).toBe('invalid_since');
});

test('a cursor is of one list and one reader, and cannot be forged', async () => {
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const [site, other] = [await createSite(owner), await createSite(owner)];
  for (let n = 0; n < 3; n++) await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: `Title ${n}` } });
  const path = `/v1/sites/${site.id}/history`;
  const { next_cursor: cursor } = (await owner.call('GET', `${path}?limit=1`)).body;
  const { next_cursor: own } = (await owner.call('GET', '/v1/account/history?limit=1')).body;
  const since = 'since=2026-01-01T00:00:00Z';
  const position = Buffer.from(cursor, 'base64url').subarray(16);
  const flipped = Buffer.from(cursor, 'base64url').fill(1, 0, 1).toString('base64url');
  const uses = [
    [owner, `${path}?limit=1&cursor=${cursor}`, 200],
    [owner, `${path}?${since}&cursor=${cursor}`, 'invalid_cursor'],
    [owner, `${path}?cursor=${own}`, 'invalid_cursor'],
    [owner, `/v1/sites/${other.id}/history?cursor=${cursor}`, 'invalid_cursor'],
    [owner, `/v1/account/history?cursor=${cursor}`, 'invalid_cursor'],
    [stranger, `/v1/account/history?cursor=${own}`, 'invalid_cursor'],
    [stranger, `${path}?cursor=${cursor}`, 'not_found'],
    [owner, `${path}?cursor=${flipped}`, 'invalid_cursor'],
    [owner, `${path}?cursor=${position.toString('base64url')}`, 'invalid_cursor'],
    [owner, `${path}?cursor=${encodeURIComponent(position.toString())}`, 'invalid_cursor'],
  ] as const;
  for (const [caller, use, wanted] of uses) {
    const answer = await caller.call('GET', use);
    expect([use, answer.status === 200 ? 200 : errorOf(answer).code]).toEqual([use, wanted]);
  }
});

test('a person who left a site sees only their acts in history', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const guest = await newCollaborator(site.id);
  await guest.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'By the guest' } });
  await guest.call('DELETE', `/v1/sites/${site.id}/collaborators/me`);
  await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'A secret of the owner' } });
  const own = await guest.call('GET', '/v1/account/history');
  expect(own.body.items.map(({ action }: Entry) => action)).toEqual(['collaborator.left', 'site.updated']);
  expect(own.text).not.toContain('A secret of the owner');
  expect((await guest.call('GET', `/v1/sites/${site.id}/history`)).status).toBe(404);
  expect((await historyOf(owner, '/v1/account/history')).map(({ action }) => action)).toEqual([
    'site.updated',
    'collaborator.left',
    'site.updated',
    'site.created',
  ]);
});

test('a commit by a call has the token as its author', async () => {
  const owner = await fixture.newCaller();
  const agent = await withToken(owner, 'Kitchen agent');
  const site = await createSite(owner);
  const changes = [{ path: 'src/note.md', text: 'Bread' }];
  const { body } = await agent.call('POST', `/v1/sites/${site.id}/commits`, { body: { message: 'A note', changes } });
  expect(body.author).toBe('Kitchen agent');
  const log = await execute('git', ['-C', place(site.id), 'log', '-1', '--format=%an <%ae>|%cn <%ce>']);
  const { name, email } = await fixture.deps.em().findOneOrFail(Account, owner.accountId);
  expect(log.stdout.trim()).toBe(`Kitchen agent <${email}>|${name} <${email}>`);

  const [entry] = await historyOf(owner, `/v1/sites/${site.id}/history`);
  expect(entry).toMatchObject({
    action: 'repository.committed',
    via: { kind: 'token', name: 'Kitchen agent' },
    subject: { kind: 'repository', id: site.id, name: 'source' },
    detail: { commit: body.commit, files_changed: 1, branch: 'main', message: 'A note' },
  });
});

test('a deployment says how it was created', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const other = await newCollaborator(site.id);
  const { body: made } = await owner.call('POST', `/v1/sites/${site.id}/deployments`);
  expect(made).toMatchObject({ created_by: owner.accountId, created_via: { kind: 'token', name: 'first' } });
  const { body: seen } = await other.call('GET', `/v1/deployments/${made.id}`);
  expect(seen.created_via).toEqual({ kind: 'token', name: null });
});
