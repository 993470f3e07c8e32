import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture, errorOf } from './fixture.ts';

// A twentieth: 30 a minute for a token, 6 for an address.
const fixture = await createFixture({ FRONTAGE_RATE_SCALE: '0.05', FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
const second = await fixture.start();
afterAll(() => fixture.close());
const anyone = callWith(fixture.url);
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

test('a token passes exactly as often as its limit allows, over two processes', async () => {
  const owner = await fixture.newCaller();
  const calls = Array.from({ length: 50 }, (_, index) =>
    callWith(index % 2 ? fixture.url : second.url, owner.token)('GET', '/v1/account'),
  );
  const answers = await Promise.all(calls);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map((answer) => errorOf(answer).code)).toEqual(Array(20).fill('rate_limited'));
  const remaining = answers.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a);
  expect(remaining.slice(0, 31)).toEqual(Array.from({ length: 31 }, (_, index) => Math.max(0, 29 - index)));
});

test('a refused call says when to retry, and then passes', async () => {
  const owner = await fixture.newCaller();
  for (let n = 0; n < 30; n++) await owner.call('GET', '/v1/account');
  const answer = await owner.call('GET', '/v1/account');
  expect([answer.status, errorOf(answer).retryable]).toEqual([429, true]);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(answer.headers.get('ratelimit-limit')).toBe('30');
  expect(answer.headers.get('ratelimit-remaining')).toBe('0');
  fixture.skip(seconds * 1000);
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
});

test('a token at its limit does not affect another token of the account', async () => {
  const owner = await fixture.newCaller();
  const { body } = await owner.call('POST', '/v1/tokens', { body: { name: 'second' } });
  for (let n = 0; n < 30; n++) await owner.call('GET', '/v1/account');
  expect((await owner.call('GET', '/v1/account')).status).toBe(429);
  expect((await callWith(fixture.url, body.access_token)('GET', '/v1/account')).status).toBe(200);
});

test('files of a manifest have their own limit', async () => {
  const owner = await fixture.newCaller();
  const send = () => owner.call('PUT', '/v1/deployments/dep_none/files/x', { raw: 'x' });
  const [sent] = await Promise.all(Array.from({ length: 40 }, send));
  expect([sent?.status, sent?.headers.get('ratelimit-limit')]).toEqual([404, '600']);
  expect((await owner.call('GET', '/v1/account')).headers.get('ratelimit-remaining')).toBe('29');
  for (let n = 0; n < 29; n++) await owner.call('GET', '/v1/account');
  expect([(await owner.call('GET', '/v1/account')).status, (await send()).status]).toEqual([429, 404]);
});

test('an address with repeated sign-in failures is limited, but its valid token works', async () => {
  const owner = await fixture.newCaller();
  const wrong = callWith(fixture.url, `fro_${'A'.repeat(43)}`);
  const statuses: number[] = [];
  for (let n = 0; n < 8; n++) {
    const { status, headers } = await wrong('GET', '/v1/account', from('203.0.113.9'));
    statuses.push(status);
    expect([headers.get('ratelimit-limit'), headers.get('retry-after') !== null]).toEqual(['6', status === 429]);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
  expect((await owner.call('GET', '/v1/account', from('203.0.113.9'))).status).toBe(200);
  expect((await wrong('GET', '/v1/account', from('203.0.113.10'))).status).toBe(401);
});

test('a rate limit counts an IPv6 client by its /64 network', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 7; n++) statuses.push((await anyone('GET', '/errors', from(`2001:db8::${n}`))).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
  expect((await anyone('GET', '/errors', from('2001:db8:0:1::1'))).status).toBe(200);
});

test('a forwarded address counts only from a trusted proxy', async () => {
  const direct = await createFixture({ FRONTAGE_RATE_SCALE: '0.05' });
  try {
    const call = callWith(direct.url);
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) statuses.push((await call('GET', '/errors', from(`203.0.113.${n}`))).status);
    expect(statuses.at(-1)).toBe(429);
  } finally {
    await direct.close();
  }
});

test('health checks have no rate limit', async () => {
  for (let n = 0; n < 20; n++) expect((await anyone('GET', '/healthz')).status).toBe(200);
});

test('a counter that cannot be written lets the call pass', async () => {
  const broken = await createFixture();
  try {
    const owner = await broken.newCaller();
    await broken.deps.em().execute('drop table rate_limit');
    expect((await owner.call('GET', '/v1/account')).status).toBe(200);
    expect(broken.logged.some(({ msg }) => msg.includes('rate limit could not be checked'))).toBe(true);
  } finally {
    await broken.close();
  }
});
