/** Publishes as the API accepts them, without a worker. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { streamLog } from '#api/deployments/log.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { Token } from '#db/auth/token.ts';
import { appendLog } from '#db/deployments/build-log.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { settle } from '#db/deployments/transitions.ts';
import { builder, type Caller, createFixture, createSite, errorOf, type Fixture, limitsIn } from './fixture.ts';

let fixture: Fixture;
let owner: Caller;
beforeAll(async () => {
  fixture = await createFixture();
  owner = await fixture.newCaller();
});
afterAll(() => fixture.close());

const publish = (caller: Caller, site: { id: string }) =>
  caller.call('POST', `/v1/sites/${site.id}/publish`, {
    body: {},
    // Identical publishes are joined, unless they build with fresh caches.
    headers: { prefer: 'respond-async', 'cache-control': 'no-cache' },
  });

test('concurrent publishes count against one hourly limit for all sites of the account', {
  timeout: 120_000,
}, async () => {
  const limit = limitsIn(fixture.config).publishes_per_hour;
  const busy = await fixture.newCaller();
  const sites = [await createSite(busy), await createSite(busy), await createSite(busy)];
  const calls = Array.from({ length: limit + 12 }, (_, n) => publish(busy, sites[n % 3] as { id: string }));
  const answers = await Promise.all(calls);
  const taken = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(taken).toHaveLength(limit);
  expect(refused.map((answer) => errorOf(answer).code)).toEqual(Array(12).fill('rate_limited'));
});

test('after a day without a builder publishes are refused, until one returns', async () => {
  const empty = await createFixture({}, { builders: false });
  try {
    const caller = await empty.newCaller();
    const site = await createSite(caller);
    const builds = async () => (await caller.call('GET', '/v1/account')).body.capabilities.builds;
    const refused = { code: 'publish_disabled', retryable: false };
    expect(await builds()).toBe(false);
    const first = await publish(caller, site);
    expect([first.status, errorOf(first)]).toMatchObject([503, refused]);
    expect(errorOf(first).message).toContain('no worker with a sandbox is running');
    expect(errorOf(first).next_action).toMatch(/^Ask the operator .* upload the output/);
    await recordBuilderPresence(empty.deps.em(), empty.clock, builder);
    expect(await builds()).toBe(true);
    empty.skip(23 * 3600_000);
    expect((await publish(caller, site)).status).toBe(200);
    empty.skip(2 * 3600_000);
    expect(await builds()).toBe(false);
    expect(errorOf(await publish(caller, site))).toMatchObject(refused);
  } finally {
    await empty.close();
  }
});

/** A publish that waits for a worker, with three pieces of log. */
async function logged(): Promise<string> {
  const { body } = await publish(owner, await createSite(owner));
  for (const [seq, text] of ['one\n', 'two\n', 'three\n'].entries())
    await appendLog(fixture.deps.em(), body.id, seq, text);
  return body.id;
}

test('a log follower continues after its last event, and stops after the end', async () => {
  const id = await logged();
  await settle(fixture.deps.em(), fixture, id, { status: 'cancelled' });
  const follow = (headers: Record<string, string>) =>
    owner.call('GET', `/v1/deployments/${id}/log`, { headers: { accept: 'text/event-stream', ...headers } });
  const numbersOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, number]) => number);
  expect(numbersOf((await follow({})).text)).toEqual(['0', '1', '2', 'end']);
  expect(numbersOf((await follow({ 'last-event-id': '1' })).text)).toEqual(['2', 'end']);
  expect(numbersOf((await follow({ 'last-event-id': 'x' })).text)).toEqual(['0', '1', '2', 'end']);
  const { status, text } = await follow({ 'last-event-id': 'end' });
  expect({ status, text }).toEqual({ status: 204, text: '' });
});

test('a followed log ends with its account’s access, its token or its secret', async () => {
  const blocks = {
    account: ({ accountId }: Caller) => blockAccount(fixture.deps.em(), fixture, accountId, 'For a reason.'),
    token: ({ accountId }: Caller) =>
      fixture.deps.em().nativeUpdate(Token, { account: accountId }, { revokedAt: fixture.clock.now() }),
    async secret({ call }: Caller) {
      const { items } = (await call('GET', '/v1/tokens')).body;
      const own = items.find(({ current }: { current: boolean }) => current);
      expect((await call('POST', `/v1/tokens/${own.id}/rotate`)).status).toBe(200);
    },
  };
  for (const end of Object.values(blocks)) {
    const other = await fixture.newCaller();
    const { body } = await publish(other, await createSite(other));
    const answer = await fetch(`${fixture.url}/v1/deployments/${body.id}/log`, {
      headers: { authorization: `Bearer ${other.token}`, accept: 'text/event-stream' },
    });
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('the build log');
    await end(other);
    await appendLog(fixture.deps.em(), body.id, 0, 'a secret of later\n');
    let rest = '';
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      rest += Buffer.from(piece.value).toString();
    expect(rest).toBe('');
  }
});

test('a followed log ends as soon as its client disconnects', async () => {
  const id = await logged();
  const load = () => fixture.deps.em().findOne(Deployment, { id });
  const stop = new AbortController();
  const words: string[] = [];
  for await (const chunk of streamLog(fixture.deps, id, load, { disconnected: stop.signal })) {
    words.push(String(chunk));
    if (words.join('').includes('data: three')) stop.abort();
  }
  expect(words.join('')).not.toContain('event: end');
});

test('a log that is silent for long sends a keep-alive comment', async () => {
  const id = await logged();
  const load = () => fixture.deps.em().findOne(Deployment, { id });
  const words: string[] = [];
  for await (const chunk of streamLog(fixture.deps, id, load, {
    disconnected: new AbortController().signal,
    silenceMs: 0,
  })) {
    words.push(String(chunk));
    if (words.some((word) => word.includes(': still running')))
      await settle(fixture.deps.em(), fixture, id, { status: 'cancelled' });
    await pause(1);
  }
  expect(words.join('')).toMatch(
    /data: three[\s\S]*: still running\n\n[\s\S]*event: end\nid: end\ndata: cancelled\n\n$/,
  );
});
