import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Site } from '#db/sites/site.ts';
import { newId } from '#runtime/ids.ts';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { stateOf } from './state.ts';
import { opened, post } from './wire.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const day = 86_400;

describe('a git password', () => {
  test('gives no access if wrong, expired or foreign, and git says why', async () => {
    await using work = await folder();
    const [siteId, other] = [await platform.site({ 'a.txt': 'a' }), await platform.site()];
    const right = new URL(await platform.address(siteId));
    const clone = async (change: (url: URL) => void) => {
      const url = new URL(right);
      change(url);
      return (await tryGit(work.path, ['clone', url.href, 'x'])).stderr;
    };
    const set = (part: 'password' | 'username' | 'pathname', value: string) => (url: URL) => {
      url[part] = value;
    };
    expect(await clone(set('password', 'wrong'))).toMatch(
      /remote: Unknown user name or wrong password[\s\S]*Authentication failed/,
    );
    expect(await clone(set('username', 'git-nobody'))).toMatch(/Unknown user name or wrong password/);
    expect(await clone(set('password', platform.token))).toMatch(/A bearer token cannot be used as a git password/);
    expect(await clone(set('pathname', `/git/${other}.git`))).toMatch(
      /not give access to the repository at this address[\s\S]*not found/,
    );
    expect(await clone(set('pathname', `/git/${siteId}.content.git`))).toMatch(
      /not give access to the repository at this address/,
    );
    expect(await clone(set('pathname', `/git/${newId('site')}.git`))).toMatch(
      /not give access to the repository at this address/,
    );
    const short = await platform.address(siteId, { seconds: 60 });
    await git(work.path, ['clone', '--quiet', short, 'y']);
    platform.wait(60_000);
    expect((await tryGit(work.path, ['clone', short, 'z'])).stderr).toMatch(/This password has expired/);
  });

  test('is required', async () => {
    const { url } = opened(await platform.address(await platform.site(), { seconds: day }));
    const path = '/info/refs?service=git-upload-pack';
    const none = await fetch(url + path);
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Basic realm="git", charset="UTF-8"');
    for (const authorization of [
      `Bearer ${platform.token}`,
      'Basic',
      'Basic !!!',
      'Basic OnB3',
      'Basic AGE6Yg==',
      'Digest x',
    ]) {
      const answer = await fetch(url + path, { headers: { authorization } });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
    }
  });

  test('for reading can clone, and cannot push', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId, { access: 'read', seconds: day }), '.']);
    await commitFiles(work.path, { 'b.txt': 'b' });
    const before = await stateOf(platform, siteId);
    expect((await tryGit(work.path, ['push'])).stderr).toMatch(/remote: This password is read-only/);
    expect(
      (await post(await platform.address(siteId, { access: 'read', seconds: day }), 'git-receive-pack', '0000')).status,
    ).toBe(403);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('can still fetch from an archived site, and cannot push', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = await platform.address(siteId, { seconds: day });
    await git(work.path, ['clone', '--quiet', address, 'one']);
    const archived = { status: 'archived', archivedAt: platform.deps.clock.now() } as const;
    await platform.deps.em().nativeUpdate(Site, { id: siteId }, archived);
    await git(work.path, ['clone', '--quiet', address, 'two']);
    await commitFiles(`${work.path}/one`, { 'b.txt': 'b' });
    expect((await tryGit(`${work.path}/one`, ['push'])).stderr).toMatch(
      /remote: The site \w+ is archived and does not accept pushes/,
    );
    const deleteAt = new Date(platform.deps.clock.now().getTime() + 1000 * day);
    await platform.deps.em().nativeUpdate(Site, { id: siteId }, { deleteAt });
    expect((await tryGit(`${work.path}/one`, ['push'])).stderr).toMatch(
      /remote: The site \w+ is being deleted and does not accept pushes. Call POST \S+\/restore-site, then POST \S+\/unarchive/,
    );
    const answer = await platform.call('POST', `/v1/sites/${siteId}/commits`, {
      message: 'x',
      changes: [{ path: 'a', text: 'b' }],
    });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'site_archived' } } });
  });
});
