import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAccount } from '../../api/accounts/rules.ts';
import { createCredential } from '../../api/source/credentials.ts';
import { Collaborator } from '../../db/entities/collaborator.ts';
import { newId, newSecret } from '../../ids.ts';
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
  const { username } = await createCredential(deps.em(), deps, { accountId, tokenId: '' }, siteId, input);
  const address = Object.assign(new URL(`${url}/git/${siteId}.git`), { username, password });
  return { accountId, address: address.href };
}

test('a collaborator clones and pushes, until he is removed: then his password opens nothing', async () => {
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
  expect((await tryGit(`${work.path}/site`, ['push', 'origin', 'main'])).status).not.toBe(0);
  // What he did stays, and so does the owner's own way in.
  await git(work.path, ['clone', '--quiet', await platform.address(siteId), 'owner']);
  expect(await git(`${work.path}/owner`, ['ls-files'])).toContain('src/b.txt');
});

test('a password that was being made while its maker was removed opens nothing either', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  const { accountId, address } = await newCollaborator(siteId);
  // The row of the password is there; the right it was made under is not.
  await platform.deps.em().nativeDelete(Collaborator, { site: siteId, account: accountId });
  expect((await tryGit(work.path, ['clone', address, 'x'])).stderr).toMatch(/may not act on the site any more/);
});
