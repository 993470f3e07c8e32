/** The calls on a site's material, as tests make them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pLimit, { type LimitFunction } from 'p-limit';
import { concurrent } from '#api/concurrency.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { Limits } from '#rules/limit-names.ts';
import { type Answer, type Caller, createFixture, createSite, errorOf } from '#test/api/fixture.ts';

const run = promisify(execFile);

export async function createMaterial(
  env: Record<string, string> = {},
  { limits = {} }: { limits?: Partial<Limits> } = {},
) {
  const fixture = await createFixture(env, { limits });
  const repositories = fixture.deps.repositories as Repositories;
  const putting = inTurns(concurrent.assetWrites.each);
  const sending = inTurns(concurrent.linkUploads.each);
  const source = (siteId: string) => repositories.place(siteId, 'source').dir;
  return {
    ...fixture,
    repositories,
    /** An owner with a site of his own. */
    async owner() {
      const caller = await fixture.newCaller();
      const site = await createSite(caller);
      return { ...caller, siteId: site.id as string };
    },
    secondSite: async (caller: Caller): Promise<string> => (await createSite(caller)).id,
    put: (caller: Caller, siteId: string, path: string, bytes: Buffer | string, headers: Record<string, string> = {}) =>
      putting(caller.token, () =>
        caller.call('PUT', `/v1/sites/${siteId}/assets/${path.split('/').map(encodeURIComponent).join('/')}`, {
          raw: bytes,
          headers: { 'content-type': 'application/octet-stream', ...headers },
        }),
      ),
    /** Paths and bytes of the source at the tip of `main`. */
    async files(siteId: string): Promise<Map<string, string>> {
      const { stdout } = await run('git', ['-C', source(siteId), 'ls-tree', '-r', '-z', 'main']);
      return new Map(
        stdout
          .split('\0')
          .filter(Boolean)
          .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(12, 52)]),
      );
    },
    async assetFiles(siteId: string): Promise<string[]> {
      return [...(await this.files(siteId)).keys()].filter((path) => path.startsWith('src/assets/'));
    },
    async bytes(siteId: string, path: string): Promise<Buffer> {
      const args = ['-C', source(siteId), 'cat-file', 'blob', `main:${path}`];
      return (await run('git', args, { encoding: 'buffer', maxBuffer: 2 ** 28 })).stdout;
    },
    async log(siteId: string): Promise<string[]> {
      const { stdout } = await run('git', ['-C', source(siteId), 'log', '--format=%an <%ae> %s', 'main']);
      return stdout.trim().split('\n');
    },
    /** Git's ids of all that the repository holds, whether a commit names it or not. */
    async objects(siteId: string): Promise<string[]> {
      const { stdout } = await run('git', ['-C', source(siteId), 'cat-file', '--batch-all-objects', '--batch-check']);
      return stdout.trim().split('\n').sort();
    },
    async usedToday(caller: Caller): Promise<number> {
      return (await caller.call('GET', '/v1/account')).body.limits.files_per_day.used;
    },
    async link(caller: Caller, siteId: string, body: Record<string, unknown> = {}) {
      const answer = await caller.call('POST', `/v1/sites/${siteId}/uploads`, { body });
      if (answer.status !== 200) throw new Error(answer.text);
      const secret = new URL(answer.body.url).pathname.slice('/u/'.length);
      return { ...answer.body, secret, address: `${fixture.url}/u/${secret}` };
    },
    /** Sends a file as the page's script does. */
    send: (link: { secret: string }, name: string, bytes: Buffer): Promise<Answer> =>
      sending(link.secret, async () => {
        const answer = await fetch(`${fixture.url}/u/${link.secret}`, {
          method: 'POST',
          headers: { 'x-file-name': encodeURIComponent(name), accept: 'application/json' },
          body: new Uint8Array(bytes),
        });
        const text = await answer.text();
        return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
      }),
  };
}
export type Material = Awaited<ReturnType<typeof createMaterial>>;

export { errorOf };

/** As many calls at a time for each key as the API accepts; the others wait. */
function inTurns(most: number): (key: string, call: () => Promise<Answer>) => Promise<Answer> {
  const turns = new Map<string, LimitFunction>();
  return (key, call) => {
    const turn = turns.get(key) ?? pLimit(most);
    turns.set(key, turn);
    return turn(call);
  };
}

/** How often each answer came: `{ 200: 50, rate_limited: 50 }`. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status === 200 ? '200' : body.error.code;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
