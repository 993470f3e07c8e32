/** Calls that hold something for as long as their client takes: how many an account has at a time, and what frees one. */
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrent } from '#api/concurrency.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from '#test/material/fixture.ts';
import { openPut, openSend } from '#test/material/slow.ts';
import { named, sender } from '#test/output/sending.ts';
import { until } from '#test/stack/until.ts';
import { type Answer, callWith, createSite, errorOf } from './fixture.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial();
});
afterAll(() => material.close());

type Held = { destroy(): unknown };
const times = <Item>(length: number, make: () => Item): Item[] => Array.from({ length }, make);

/** All of these calls are held; the next is refused until one of their clients disconnects. */
async function expectBound(held: Held[], next: () => Promise<Answer>): Promise<void> {
  const refused = await until(next, ({ status }) => status === 429);
  expect(errorOf(refused)).toMatchObject({ code: 'rate_limited', retryable: true });
  expect(refused.headers.get('retry-after')).toBe('5');
  held.pop()?.destroy();
  await until(next, ({ status }) => status === 200);
  for (const call of held) call.destroy();
}

/** The first bytes of a body whose rest does not come. */
function begin(call: ReturnType<typeof openPut>, bytes: Buffer): Held {
  void call.write(bytes.subarray(0, 20));
  return call;
}

/** Sends the request and reads nothing of its response. */
function readNothing(path: string, token: string): Socket {
  const socket = connect(Number(new URL(material.url).port), '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

test('an account sends sixteen files of output at a time; another account’s pass', async () => {
  const [owner, stranger] = [await material.newCaller(), await material.newCaller()];
  const files = { 'a.png': sample.png };
  async function start(caller: typeof owner) {
    const { begin, name, send } = sender(caller);
    const deployment = await begin(await createSite(caller));
    const [file] = named(files);
    await name(deployment, [file]);
    return {
      id: deployment.id as string,
      sha: file?.sha256 ?? '',
      send: () => send(deployment, file?.sha256 ?? '', sample.png),
    };
  }
  const [own, theirs] = [await start(owner), await start(stranger)];
  const url = `${material.url}/v1/deployments/${own.id}/files/${own.sha}`;
  const held = times(concurrent.outputFiles.each, () => begin(openPut(owner.token, url), sample.png));
  await until(own.send, ({ status }) => status === 429);
  expect((await theirs.send()).status).toBe(200);
  await expectBound(held, own.send);
});

test('an account writes sixteen assets at a time', async () => {
  const owner = await material.owner();
  const path = `/v1/sites/${owner.siteId}/assets/src/assets/a.png`;
  const held = times(concurrent.assetWrites.each, () => begin(openPut(owner.token, material.url + path), sample.png));
  await expectBound(held, () => owner.call('PUT', path, { raw: sample.png }));
});

test('four files are sent through a link at a time; another link’s pass', async () => {
  const owner = await material.owner();
  const [link, other] = [await material.link(owner, owner.siteId), await material.link(owner, owner.siteId)];
  const held = times(concurrent.linkUploads.each, () => begin(openSend(link.address, 'a.png'), sample.png));
  const next = () => callWith(material.url)('POST', `/u/${link.secret}`, { raw: sample.png });
  await until(next, ({ status }) => status === 429);
  expect((await material.send(other, 'b.png', sample.pngOf(2, 2))).status).toBe(200);
  await expectBound(held, next);
});

test('the links of an owner accept sixteen files at a time together', async () => {
  const owner = await material.owner();
  const links = await Promise.all(times(5, () => material.link(owner, owner.siteId)));
  const sends = links.slice(0, 4).flatMap((link) => times(concurrent.linkUploads.each, () => link.address));
  expect(sends).toHaveLength(concurrent.ownerUploads.each);
  const held = sends.map((address) => begin(openSend(address, 'a.png'), sample.png));
  await expectBound(held, () => callWith(material.url)('POST', `/u/${links[4]?.secret}`, { raw: sample.png }));
});

test('an account reads eight files at a time, however slowly it reads them', async () => {
  const owner = await material.owner();
  const large = sample.pngOf(1, 1, sample.pngPart('teXt', Buffer.alloc(16_000_000)));
  expect((await material.put(owner, owner.siteId, 'public/large.png', large)).status).toBe(200);
  const path = `/v1/sites/${owner.siteId}/assets/public/`;
  expect((await material.put(owner, owner.siteId, 'public/small.png', sample.png)).status).toBe(200);
  const held = times(concurrent.assetReads.each, () => readNothing(`${path}large.png`, owner.token));
  await expectBound(held, () => owner.call('GET', `${path}small.png`));
});

test('an account follows sixteen build logs at a time, and can read one still', async () => {
  const owner = await material.owner();
  const publish = { body: {}, headers: { prefer: 'respond-async' } };
  const { body } = await owner.call('POST', `/v1/sites/${owner.siteId}/publish`, publish);
  const path = `/v1/deployments/${body.id}/log`;
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${owner.token}` };
  const follow = () =>
    get(material.url + path, { headers })
      .on('error', () => {})
      .on('response', (r) => r.resume());
  const held: Held[] = times(concurrent.logStreams.each, follow);
  /** Whether a further follower is accepted; it hangs up. */
  async function next(): Promise<Answer> {
    const stop = new AbortController();
    const answer = await fetch(material.url + path, { headers, signal: stop.signal });
    const text = answer.status === 200 ? '' : await answer.text();
    stop.abort();
    return { status: answer.status, headers: answer.headers, text, body: text && JSON.parse(text) };
  }
  await until(next, ({ status }) => status === 429);
  expect((await owner.call('GET', path)).status).toBe(200);
  await expectBound(held, next);
});

test('HEAD of a file or of a form’s submissions is not supported', async () => {
  const owner = await material.owner();
  for (const path of [`/v1/sites/${owner.siteId}/assets/public/a.png`, '/v1/forms/form_x/submissions?format=csv']) {
    const { status, headers } = await owner.call('HEAD', path);
    expect([status, headers.get('allow')?.includes('HEAD')]).toEqual([405, false]);
  }
});
