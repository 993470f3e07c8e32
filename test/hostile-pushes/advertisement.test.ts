/** The first request of every clone, fetch and push. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { serveWith, untilIdle } from '#test/git/serving.ts';
import { gitProcesses } from '#test/git/state.ts';
import { get, opened } from '#test/git/wire.ts';

const run = promisify(execFile);
const patient = { timeout: 20_000 };
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

test('git ends when the client of its first request disconnects', async () => {
  await using site = await serveWith(platform, { concurrency: { running: 1, perAccount: 1, waiting: 0 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const address = await site.address(siteId);
  const { url, authorization } = opened(address);
  // Who lists the refs waits for a writer. What the service reads of a commit before does not.
  const tag = join(platform.repositories.place(siteId, 'source').dir, 'refs/tags/waiting');
  await run('mkfifo', ['-m', '644', tag]);
  const gone = new AbortController();
  const asked = fetch(`${url}/info/refs?service=git-receive-pack`, { headers: { authorization }, signal: gone.signal });
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), patient);
  gone.abort();
  await expect(asked).rejects.toThrow();
  await untilIdle(platform, siteId);
  await rm(tag);
  const status = async () => (await get(address, '/info/refs?service=git-upload-pack')).status;
  await vi.waitFor(async () => expect(await status()).toBe(200), patient);
});
