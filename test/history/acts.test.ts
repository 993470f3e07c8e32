/** Acts with money, passwords, git and by the operator in the history, and its end after a year. */
import { afterAll, expect, test } from 'vitest';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { sweepHistory } from '#db/history/expiry.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { usualScope } from '#rules/scopes.ts';
import { dayMs } from '#rules/time.ts';
import { type Caller, callWith, createFixture, createSite } from '#test/api/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { commitFiles, folder, git } from '#test/git/git.ts';

const fixture = await createFixture({ ...challengeEnv, FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1' });
afterAll(() => fixture.close());

type Entry = { action: string; via: unknown; subject: unknown; detail: unknown; account: { id: string } };

async function historyOf(caller: Caller, path: string): Promise<Entry[]> {
  return (await caller.call('GET', path)).body.items;
}
const actionsOf = async (caller: Caller, path: string) => (await historyOf(caller, path)).map(({ action }) => action);

async function newPassword(caller: Caller, siteId: string): Promise<string> {
  const body = { repository: 'source', access: 'write' };
  const made = (await caller.call('POST', `/v1/sites/${siteId}/git-credentials`, { body })).body;
  const { username, password } = made;
  return Object.assign(new URL(new URL(made.url).pathname, fixture.url), { username, password }).href;
}

test('a push names the token that made its password', async () => {
  await using work = await folder();
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await git(work.path, ['clone', '--quiet', await newPassword(owner, site.id), 'site']);
  const from = await git(`${work.path}/site`, ['rev-parse', 'HEAD']);
  await commitFiles(`${work.path}/site`, { 'src/b.md': 'b' });
  await git(`${work.path}/site`, ['push', '--quiet', 'origin', 'HEAD:main']);
  const to = await git(`${work.path}/site`, ['rev-parse', 'HEAD']);

  const path = `/v1/sites/${site.id}/history`;
  await expect.poll(() => actionsOf(owner, path), { timeout: 20_000 }).toContain('repository.pushed');
  const [pushed] = await historyOf(owner, path);
  expect(pushed).toMatchObject({
    account: { id: owner.accountId },
    via: { kind: 'git', name: 'first' },
    subject: { kind: 'repository', id: site.id, name: 'source' },
    detail: { branch: 'main', from, to },
  });
});

test('collaborators do not see entries about tokens, passwords and invitations', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const em = fixture.deps.em();
  em.create(Collaborator, { site: site.id, account: other.accountId, since: fixture.clock.now() });
  await em.flush();
  await newPassword(owner, site.id);
  await newPassword(other, site.id);
  const limited = { name: 'Kitchen agent', scope: { ...usualScope, sites: [site.id] } };
  const { body: made } = await owner.call('POST', '/v1/tokens', { body: limited });
  const agent = callWith(fixture.url, made.access_token);
  const sitePath = `/v1/sites/${site.id}`;
  const { body: invitation } = await agent('POST', `${sitePath}/collaborators`, { body: { email: 'a@example.com' } });
  await agent('DELETE', `${sitePath}/invitations/${invitation.id}`);
  await agent('POST', `${sitePath}/uploads`, { body: {} });
  await agent('POST', `${sitePath}/review-links`);

  const path = `${sitePath}/history`;
  const links = ['review_link.created', 'upload_link.created'];
  const invited = ['invitation.withdrawn', 'invitation.created'];
  const passwords = ['git_credential.created', 'git_credential.created'];
  expect(await actionsOf(owner, path)).toEqual([...links, ...invited, ...passwords, 'site.created']);
  const seen = await historyOf(other, path);
  expect(seen.map(({ action }) => action)).toEqual([...links, 'site.created']);
  // The name of an agent is its own account's alone.
  for (const { via } of seen) expect(via).toEqual({ kind: 'token', name: null });
  expect(JSON.stringify(seen)).not.toMatch(/Kitchen|a@example\.com|tok_|\/u\/|\/review\//);
  expect(await actionsOf(other, '/v1/account/history')).toEqual([]);
});

test('tokens that are made, renamed, rotated and revoked are in the account’s history', async () => {
  const owner = await fixture.newCaller();
  const { body: made } = await owner.call('POST', '/v1/tokens', { body: { name: 'Agent' } });
  await owner.call('PATCH', `/v1/tokens/${made.id}`, { body: { name: 'Kitchen agent' } });
  const rotated = await owner.call('POST', `/v1/tokens/${made.id}/rotate`);
  await owner.call('DELETE', `/v1/tokens/${made.id}`);
  await owner.call('DELETE', `/v1/tokens/${made.id}`);

  const entries = await historyOf(owner, '/v1/account/history');
  expect(entries.map(({ action }) => action)).toEqual([
    'token.revoked',
    'token.rotated',
    'token.renamed',
    'token.created',
  ]);
  expect(entries.map(({ subject }) => subject)).toContainEqual({ kind: 'token', id: made.id, name: 'Kitchen agent' });
  const text = JSON.stringify(entries);
  for (const secret of [made.access_token, rotated.body.access_token]) expect(text).not.toContain(secret);
});

test('a site that is archived and active again says so once', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  for (const act of ['archive', 'archive', 'unarchive', 'unarchive']) {
    await owner.call('POST', `/v1/sites/${site.id}/${act}`);
  }
  const expected = ['site.unarchived', 'site.archived', 'site.created'];
  expect(await actionsOf(owner, `/v1/sites/${site.id}/history`)).toEqual(expected);
});

test('a form that is closed and reopened says so once', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const body = { name: 'Enquiry', fields: [{ name: 'a', label: 'A', kind: 'text' }] };
  const { id } = (await owner.call('POST', `/v1/sites/${site.id}/forms`, { body })).body;
  for (const act of ['disable', 'disable', 'enable', 'enable']) await owner.call('POST', `/v1/forms/${id}/${act}`);
  const expected = ['form.enabled', 'form.disabled', 'form.created', 'site.created'];
  expect(await actionsOf(owner, `/v1/sites/${site.id}/history`)).toEqual(expected);
});

test('the operator’s blocks are acts of the platform', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const em = () => fixture.deps.em();
  await blockSite(em(), fixture.clock, site.id, 'Phishing');
  await unblockSite(em(), fixture.clock, site.id);
  await blockAccount(em(), fixture.deps, owner.accountId, 'Phishing');
  await unblockAccount(em(), fixture.deps, owner.accountId);

  const entries = (await historyOf(owner, '/v1/account/history')).slice(0, 4);
  const actions = ['account.unblocked', 'account.blocked', 'site.unblocked', 'site.blocked'];
  expect(entries.map(({ action }) => action)).toEqual(actions);
  for (const { via } of entries) expect(via).toEqual({ kind: 'platform', name: null });
  expect(entries[3]?.detail).toEqual({ reason: 'Phishing' });
});

test('entries are deleted after a year', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const path = `/v1/sites/${site.id}/history`;
  const sweepIn = (days: number) => sweepHistory(fixture.deps.em(), new Date(Date.now() + days * dayMs));
  expect(await sweepIn(364)).toBe(0);
  expect(await actionsOf(owner, path)).toEqual(['site.created']);
  expect(await sweepIn(366)).toBeGreaterThan(0);
  expect(await actionsOf(owner, path)).toEqual([]);
});
