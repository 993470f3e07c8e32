import { afterAll, beforeAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { openAccount } from '#api/accounts/rules.ts';
import { createCredential } from '#api/source/credentials.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { slowPush } from '#test/credentials/slow-push.ts';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

/** A collaborator of the site, with an address to clone it from. */
async function newCollaborator(siteId: string): Promise<{ accountId: string; address: string }> {
  const { deps, url } = platform;
  const email = `${newId('acct')}@example.com`;
  const { id: accountId } = await openAccount(deps.em(), deps.clock, { email, name: 'Helper' });
  const em = deps.em();
  em.create(Collaborator, { site: siteId, account: accountId, since: deps.clock.now() });
  await em.flush();
  const password = newSecret('frg');
  const input = { id: newId('cred'), password, repository: 'source', access: 'write', expiresInSeconds: 3600 } as const;
  const { token } = await issueToken(deps.em(), deps.clock, accountId, { name: 'test' });
  const { username } = await createCredential(deps.em(), deps, actorOf(accountId, token.id), siteId, input);
  const address = Object.assign(new URL(`${url}/git/${siteId}.git`), { username, password });
  return { accountId, address: address.href };
}

test('a collaborator clones and pushes until they are removed', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  const { accountId, address } = await newCollaborator(siteId);
  await git(work.path, ['clone', '--quiet', address, 'site']);
  await commitFiles(`${work.path}/site`, { 'src/b.txt': 'b' });
  await git(`${work.path}/site`, ['push', '--quiet', 'origin', 'main']);

  const removed = await platform.call<{ ended: unknown }>('DELETE', `/v1/sites/${siteId}/collaborators/${accountId}`);
  expect(removed.body.ended).toMatchObject({ git_credentials: 1 });
  expect((await tryGit(work.path, ['clone', address, 'again'])).stderr).toMatch(/Unknown user name or wrong password/);
  await commitFiles(`${work.path}/site`, { 'src/c.txt': 'c' });
  expect((await tryGit(`${work.path}/site`, ['push', 'origin', 'main'])).stderr).toMatch(
    /Unknown user name or wrong password/,
  );
  // What he did stays, and so does the owner's own way in.
  await git(work.path, ['clone', '--quiet', await platform.address(siteId), 'owner']);
  expect(await git(`${work.path}/owner`, ['ls-files'])).toContain('src/b.txt');
});

test('a password created while its owner is removed gives no access', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  const { accountId, address } = await newCollaborator(siteId);
  // The row of the password is there; the right it was made under is not.
  await platform.deps.em().nativeDelete(Collaborator, { site: siteId, account: accountId });
  expect((await tryGit(work.path, ['clone', address, 'x'])).stderr).toMatch(/no longer has access to the site/);
});

test('a push that began before a removal or block is refused', async () => {
  const siteId = await platform.site({ 'a.txt': 'a' });
  const head = () => platform.repositories.head(siteId, 'source');
  const before = await head();
  const { deps } = platform;
  const [removed, blocked] = [await newCollaborator(siteId), await newCollaborator(siteId)];
  const gone = () => deps.em().nativeDelete(Collaborator, { site: siteId, account: removed.accountId });
  expect(await slowPush(platform, siteId, removed.address, gone)).toMatch(/ng refs\/heads\/main/);
  const block = () => blockAccount(deps.em(), deps, blocked.accountId, 'For a reason.');
  expect(await slowPush(platform, siteId, blocked.address, block)).toMatch(/ng refs\/heads\/main/);
  expect(await head()).toBe(before);
  await unblockAccount(deps.em(), deps, blocked.accountId);
  expect(await slowPush(platform, siteId, blocked.address, async () => {})).toMatch(/ok refs\/heads\/main/);
  expect(await head()).not.toBe(before);
});
