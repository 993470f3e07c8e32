/** A site with a clone whose commits are pushed, and an API process that is killed in between. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Caller, createSite, type Fixture } from '#test/api/fixture.ts';
import { commitFiles, folder, git, tryGit } from '#test/git/git.ts';

/** The pushes in the history of a site. */
export async function pushesOf({ owner, siteId }: { owner: Caller; siteId: string }) {
  const { items } = (await owner.call('GET', `/v1/sites/${siteId}/history`)).body;
  return items.filter(({ action }: { action: string }) => action === 'repository.pushed');
}

type Cloned = {
  repository?: 'source' | 'content';
  publish?: boolean;
  files?: Record<string, string>;
  siteId?: string;
  owner?: Caller;
};

/** A clone of a site, a new one if there is none yet, with a commit that is not pushed yet. */
export async function cloneSite(
  fixture: Fixture,
  { repository = 'source', publish = false, files = { 'src/b.md': 'b' }, ...known }: Cloned = {},
) {
  const work = await folder();
  onTestFinished(() => work[Symbol.asyncDispose]());
  const owner = known.owner ?? (await fixture.newCaller());
  const siteId: string = known.siteId ?? (await createSite(owner)).id;
  const body = { repository, access: 'write', publish };
  const made = (await owner.call('POST', `/v1/sites/${siteId}/git-credentials`, { body })).body;
  const { username, password } = made;
  const addressAt = (base: string) =>
    Object.assign(new URL(new URL(made.url).pathname, base), { username, password }).href;
  const clone = `${work.path}/site`;
  await git(work.path, ['clone', '--quiet', addressAt(fixture.url), 'site']);
  const from = await git(clone, ['rev-parse', 'HEAD']);
  const commit = async (changed: Record<string, string>) => {
    await commitFiles(clone, changed);
    return await git(clone, ['rev-parse', 'HEAD']);
  };
  const to = await commit(files);
  const push = (base = fixture.url, branch = 'main', what = 'HEAD') =>
    tryGit(clone, ['push', '--quiet', addressAt(base), `${what}:refs/heads/${branch}`]);
  return { owner, siteId, from, to, push, commit };
}

/** Starts an API process that is killed between the push of this commit and its entry. */
export async function startKilledApi(fixture: Fixture, commit: string) {
  const child = fork(join(import.meta.dirname, 'killed-api.ts'), {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      DATABASE_URL: fixture.database.url,
      TEMPORAL_ADDRESS: fixture.config.temporal.address,
      FRONTAGE_SECRET: fixture.config.secret,
      FRONTAGE_DATA: fixture.config.dataDir,
      KILL_AT: commit,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([, signal]) => signal as unknown);
  const [url] = (await once(child, 'message')) as [string];
  return { url, ended };
}
