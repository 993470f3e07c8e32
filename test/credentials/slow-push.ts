/** A push whose last bytes wait. */
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { commitFiles, folder, git } from '#test/git/git.ts';
import type { Platform } from '#test/git/platform.ts';
import { gitProcesses } from '#test/git/state.ts';
import { opened } from '#test/git/wire.ts';

/** A push of one commit whose last bytes wait for `meanwhile`, which runs when its access was found good. Answers what the pusher reads. */
export async function slowPush(
  platform: Platform,
  siteId: string,
  address: string,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  await using work = await folder();
  const clone = `${work.path}/site`;
  await git(work.path, ['clone', '--quiet', address, 'site']);
  const from = await git(clone, ['rev-parse', 'HEAD']);
  await commitFiles(clone, { 'src/late.txt': `late after ${from}` });
  const to = await git(clone, ['rev-parse', 'HEAD']);
  await git(clone, ['pack-objects', '--revs', '--quiet', '../late'], `${to}\n^${from}\n`);
  const [pack = ''] = (await readdir(work.path)).filter((name) => name.endsWith('.pack'));
  const bytes = await readFile(`${work.path}/${pack}`);
  const { url, authorization } = opened(address);
  const sending = request(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
  });
  const answer = new Promise<string>((resolve, reject) => {
    sending.on('error', reject).on('response', (got) => void text(got).then(resolve, reject));
  });
  const line = `${from} ${to} refs/heads/main\0 report-status`;
  sending.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  sending.write(bytes.subarray(0, -1));
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), { timeout: 20_000 });
  await meanwhile();
  sending.end(bytes.subarray(-1));
  return await answer;
}
