/** What a revoked git password still does: nothing, also in a push that has begun. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { commitFiles, folder, git, tryGit } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { untilIdle } from '#test/git/serving.ts';
import { slowPush } from './slow-push.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

type Made = { id: string; username: string; password: string; url: string };

async function newCredential(siteId: string): Promise<{ id: string; address: string }> {
  const input = { repository: 'source', access: 'write' };
  const { body } = await platform.call<Made>('POST', `/v1/sites/${siteId}/git-credentials`, input);
  const { username, password } = body;
  const { pathname } = new URL(body.url);
  return { id: body.id, address: Object.assign(new URL(pathname, platform.url), { username, password }).href };
}

const revoke = async (id: string) => (await platform.call('DELETE', `/v1/git-credentials/${id}`)).status;
const headOf = (siteId: string) => platform.repositories.head(siteId, 'source');

test('a revoked git password neither fetches nor pushes', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  const { id, address } = await newCredential(siteId);
  await git(work.path, ['clone', '--quiet', address, 'site']);
  await commitFiles(`${work.path}/site`, { 'src/b.txt': 'b' });
  expect(await revoke(id)).toBe(200);
  const before = await headOf(siteId);
  expect((await tryGit(`${work.path}/site`, ['push', 'origin', 'main'])).stderr).toMatch(/Unknown user name/);
  expect((await tryGit(work.path, ['clone', address, 'again'])).stderr).toMatch(/Unknown user name/);
  expect(await headOf(siteId)).toBe(before);
});

test('a push is refused if its password is revoked before git accepts it', async () => {
  const siteId = await platform.site({ 'a.txt': 'a' });
  const before = await headOf(siteId);
  const [received, checked] = [await newCredential(siteId), await newCredential(siteId)];
  expect(await slowPush(platform, siteId, received.address, () => revoke(received.id))).toMatch(/ng refs\/heads\/main/);
  const { head } = platform.repositories;
  const answer = await slowPush(platform, siteId, checked.address, async () => {
    // The checks of a push begin with the head of the repository.
    vi.spyOn(platform.repositories, 'head').mockImplementationOnce(async (...repository) => {
      expect(await revoke(checked.id)).toBe(200);
      return await head(...repository);
    });
  });
  vi.restoreAllMocks();
  expect(answer).toMatch(/ng refs\/heads\/main/);
  expect(await headOf(siteId)).toBe(before);
});

test('no push moves a branch after the revocation of its password was answered', { timeout: 60_000 }, async () => {
  const siteId = await platform.site({ 'a.txt': 'a' });
  const isLocked = async (id: string) => {
    const free = 'select 1 from git_credential where id = ? for update skip locked';
    return (await platform.deps.em().execute<unknown[]>(free, [id])).length === 0;
  };
  for (let round = 0; round < 4; round += 1) {
    const { id, address } = await newCredential(siteId);
    const before = await headOf(siteId);
    let [isSent, isOver] = [false, false];
    let answered: Promise<string | null> | undefined;
    const end = () => {
      answered ??= revoke(id).then(() => headOf(siteId));
    };
    // Half of them are revoked while the push is received, half when it is accepted.
    const pushed = slowPush(platform, siteId, address, async () => {
      if (round % 2 === 0) end();
      isSent = true;
    }).finally(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(isSent).toBe(true), { timeout: 20_000, interval: 5 });
    while (!isOver && !answered) if (await isLocked(id)) end();
    end();
    const after = await answered;
    const isAccepted = (await pushed).includes('ok refs/heads/main');
    await untilIdle(platform, siteId);
    expect([await headOf(siteId), after !== before]).toEqual([after, isAccepted]);
  }
});
