/**
 * Several of each, on a store in a bucket, over the wire alone: API processes, edges and workers are restarted in any order behind a front
 * that shares out connections, and no call, publish or visit fails. With `SEVERAL_FROM`, a folder of the previous release with its packages, it is an
 * upgrade: all begin as that release, and are restarted in the order of docs/upgrading.md.
 * @module-tag versitygw
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { sized } from '#test/campaigns/size.ts';
import { kinds, type Member, type Several, startSeveral } from '#test/stack/several.ts';
import { visit } from '#test/stack/stack.ts';
import { until } from '#test/stack/until.ts';
import { callApi } from '#tools/local/client.ts';

const rounds = sized({ short: 1, long: 10 });
const from = process.env.SEVERAL_FROM;

let several: Several;
beforeAll(async () => {
  several = await startSeveral(inject('runFolder'), `several-${process.pid}`, { from });
}, 300_000);
afterAll(() => several?.stop(), 60_000);

const stack = () => several.address;
const call = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  callApi(stack().baseUrl, path, { token: stack().owner.token, headers, ...(body === undefined ? {} : { body }) });
const page = (words: string) =>
  `<html lang="en"><head><title>${words}</title></head><body><h1>${words}</h1></body></html>\n`;

/** Publishes, until that has ended; 500 where it did not end live. */
async function publish(siteId: string): Promise<{ status: number }> {
  // The wait for a publish ends early where its process is restarted: it is then asked for.
  const { status, body } = await call(`/v1/sites/${siteId}/publish`, { scope: 'site' }, { prefer: 'wait=50' });
  if (status >= 300) return { status };
  const { status: last } = await until(
    async () => (await call(`/v1/deployments/${body.id}`)).body,
    (seen) => ['live', 'failed', 'cancelled', 'superseded'].includes(seen.status),
    60_000,
  );
  return { status: last === 'live' ? 200 : 500 };
}

/** One after the other, as whoever runs several of each would have it. */
async function restartAll(kind: Member['kind']): Promise<void> {
  const some = several.members.filter((one) => one.kind === kind).sort(() => Math.random() - 0.5);
  for (const member of some) {
    expect(await member.restart()).toBe('exit code 0');
    await several.allReady(kind);
  }
}

test('restarts of all kinds of processes lose no call, commit, publish or visit', async () => {
  const { body: site } = await call('/v1/sites', { name: 'several', title: 'Several', template: 'blank' });
  expect(await publish(site.id)).toEqual({ status: 200 });
  await until(
    async () => (await visit(stack(), 'several', '/')).status,
    (status) => status === 200,
  );
  let isOver = false;
  const wrong: string[] = [];
  const made = { calls: 0, commits: 0, publishes: 0, visits: 0 };

  /** Does it again and again until all restarts are over, 50 times a second at most; what it throws or answers badly is noted. */
  async function keepOn(what: keyof typeof made, act: (n: number) => Promise<{ status: number }>): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const next = delay(20);
      const status = await act(n).then(
        (answer) => answer.status,
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      if (typeof status === 'string' || status >= 300) wrong.push(`${what} ${n}: ${status}`);
      else made[what] += 1;
      await next;
    }
  }
  /** A few a second: each page is built again with every publish. */
  async function change(path: string, words: string) {
    await delay(300);
    return await call(`/v1/sites/${site.id}/commits`, {
      message: `Say ${words}`,
      changes: [{ path, text: page(words) }],
    });
  }
  const working = [
    keepOn('calls', () => call('/v1/account')),
    keepOn('calls', () => call(`/v1/sites/${site.id}/deployments`)),
    keepOn('visits', () => visit(stack(), 'several', '/')),
    keepOn('visits', () => visit(stack(), 'several', '/')),
    keepOn('commits', (n) => change(`src/pages/one-${n}.astro`, `one ${n}`)),
    keepOn('commits', (n) => change(`src/pages/two-${n}.astro`, `two ${n}`)),
    keepOn('publishes', () => publish(site.id)),
  ];
  if (from) for (const kind of ['worker', 'api', 'edge'] as const) await restartAll(kind);
  else for (let round = 0; round < rounds; round++) await Promise.all(kinds.map(restartAll));
  isOver = true;
  await Promise.all(working);
  expect(wrong).toEqual([]);
  for (const count of Object.values(made)) expect(count).toBeGreaterThan(0);
  const pages: { path: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await call(`/v1/sites/${site.id}/files?path=src/pages&limit=100${cursor && `&cursor=${cursor}`}`);
    pages.push(...body.items.filter(({ path }: { path: string }) => /\/(one|two)-\d+\.astro$/.test(path)));
    cursor = body.next_cursor ?? null;
  }
  expect(pages).toHaveLength(made.commits);
  expect(await publish(site.id)).toEqual({ status: 200 });
  const last = pages.at(-1)?.path.slice('src/pages/'.length, -'.astro'.length) ?? '';
  for (const _edge of [1, 2])
    await until(
      async () => (await visit(stack(), 'several', `/${last}/`)).text,
      (text) => text.includes(last.replace('-', ' ')),
    );
}, 300_000);
