/** A scripted agent does forty tasks on each surface, and counts its calls and bytes. `tools/bench/RESULTS.md` has the figures. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isLong } from '#test/campaigns/size.ts';
import { type TestStack, useStack } from '#test/stack/stack.ts';
import { until } from '#test/stack/until.ts';
import { clientSurface } from '#tools/bench/agents/client.ts';
import { httpSurface } from '#tools/bench/agents/http.ts';
import { mcpSurface } from '#tools/bench/agents/mcp.ts';
import { runTasks, sum, type TaskCost, tableOf, type World } from '#tools/bench/agents/run.ts';
import type { Surface } from '#tools/bench/agents/surface.ts';
import { type Seen, valueAt, withResults } from '#tools/bench/agents/task.ts';
import { account } from '#tools/bench/agents/tasks/account.ts';
import { making } from '#tools/bench/agents/tasks/making.ts';
import { visitors } from '#tools/bench/agents/tasks/visitors.ts';

const stack = useStack();
const tasks = [...making, ...visitors, ...account];
/** Twenty tasks of an agent over MCP on 2026-11-22, whose list of tools alone had 218 KB. */
const before = { bytes: 958_000, calls: 177 };
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('there are forty tasks, each with a check from outside', () => {
  expect(tasks).toHaveLength(40);
  expect(tasks.filter(({ seen }) => seen.length === 0)).toEqual([]);
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(40);
});

async function costsOn(open: (baseUrl: string, token: string) => Surface | Promise<Surface>): Promise<TaskCost[]> {
  const { token, email } = await stack.openOwner();
  const surface = await open(stack.baseUrl, token);
  const tail = randomBytes(4).toString('hex');
  const given = {
    owner: email,
    name: `agents-${tail}`,
    renamed: `renamed-${tail}`,
    friend: `friend-${tail}@example.org`,
    later: new Date(Date.now() + 86_400_000).toISOString(),
  };
  try {
    return await runTasks(surface, tasks, worldOf(stack), new Map<string, unknown>([['given', given]]));
  } finally {
    await surface.close();
  }
}

test('forty tasks over MCP cost a quarter of what twenty did', { timeout: 400_000 }, async () => {
  const costs = await costsOn(mcpSurface);
  console.info(tableOf('MCP', costs));
  const all = sum(costs);
  expect(all.bytes).toBeLessThan(before.bytes / 4);
  expect(all.calls).toBeLessThan(before.calls * 0.6);
  const compared = costs.filter((cost) => cost.before !== undefined);
  const earlier = compared.reduce((calls, one) => calls + (one.before ?? 0), 0);
  expect(sum(compared).calls).toBeLessThan(earlier * 0.6);
});

const others = [
  ['with the client', clientSurface],
  ['over HTTP', httpSurface],
] as const;

test.each(isLong ? others : [])('the same tasks %s cost a third', { timeout: 400_000 }, async (name, open) => {
  const costs = await costsOn(open);
  console.info(tableOf(name, costs));
  expect(sum(costs).bytes).toBeLessThan(before.bytes / 3);
});

function worldOf({ baseUrl, baseDomain, edgeUrl, mailUrl, visit }: TestStack): World {
  const anyone = async (url: string, init: RequestInit = {}) => await fetch(new URL(url, baseUrl), init);
  const { port } = new URL(edgeUrl);

  /** The edge answers for hosts that no resolver knows. */
  async function open(url: string) {
    const { hostname, pathname } = new URL(url, baseUrl);
    if (hostname.endsWith(`.${baseDomain}`)) return await visit(hostname.slice(0, -baseDomain.length - 1), pathname);
    const answered = await anyone(url, { headers: { accept: 'text/html' }, redirect: 'manual' });
    return { status: answered.status, text: await answered.text(), headers: Object.fromEntries(answered.headers) };
  }

  async function page(seen: Extract<Seen, { page: string }>, known: Map<string, unknown>) {
    const named = seen.host ? withResults(seen.host, known) : String(valueAt(['site', 'name'], known));
    const host = named.startsWith('http') ? named : `http://${named}.${baseDomain}:${port}`;
    const isSeen = ({ status, text, headers }: Awaited<ReturnType<typeof open>>) =>
      status === (seen.status ?? 200) &&
      (seen.has === undefined || text.includes(seen.has)) &&
      (seen.lacks === undefined || !text.includes(seen.lacks)) &&
      (seen.location === undefined || String(headers.location).endsWith(seen.location));
    await until(() => open(`${host}${seen.page}`), isSeen);
  }

  return {
    async visit(what, known) {
      if (what === 'looks') {
        await visit(String(valueAt(['site', 'name'], known)), '/', { headers: { 'user-agent': 'Mozilla/5.0' } });
      } else if (what === 'uploads') {
        const form = new FormData();
        form.append('file', new Blob([pixel], { type: 'image/png' }), 'oven.png');
        const sent = await anyone(String(valueAt(['upload', 'url'], known)), { method: 'POST', body: form });
        expect(sent.status).toBe(200);
      } else {
        const place = `/b/${valueAt(['bookable', 'public_id'], known)}`;
        const date = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
        const { slots } = (await (await anyone(`${place}/slots?service=walk&date=${date}`)).json()) as {
          slots: { start: string }[];
        };
        const visitor = { name: 'Ada Visitor', email: 'ada@example.org' };
        const booked = await anyone(place, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ service: 'walk', start: slots[0]?.start, visitor }),
        });
        expect(booked.status).toBe(200);
        known.set('booked', await booked.json());
        known.set('later', slots[2]);
      }
    },
    async look(seen, known) {
      if ('page' in seen) return await page(seen, known);
      if ('answer' in seen) return expect(String(known.get(seen.answer))).toContain(withResults(seen.has, known));
      if ('url' in seen) {
        const wanted = (answered: { status: number; text: string }) =>
          answered.status === (seen.status ?? 200) && answered.text.includes(seen.has ?? '');
        await until(() => open(withResults(seen.url, known)), wanted);
      } else if ('token' in seen) {
        const authorization = `Bearer ${withResults(seen.token, known)}`;
        expect((await anyone('/v1/account', { headers: { authorization } })).status).toBe(seen.status);
      } else {
        const to = encodeURIComponent(withResults(seen.mailTo, known));
        const read = async () => await (await fetch(`${mailUrl}/messages?to=${to}`)).text();
        await until(read, (text) => text.includes(withResults(seen.has, known)));
      }
    },
  };
}
