/** Calls that hold something for as long as their client takes: how many an account has at a time, and what frees one. */

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrent } from '#api/concurrency.ts';
import { passBytes } from '#api/plugins/file-body.ts';
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

/** The first bytes of a body whose rest does not come. If a probe took its place, it is sent again. */
function begin(open: () => ReturnType<typeof openPut>, onRefusal = () => {}): Held {
  let call: Held | undefined;
  function start(): void {
    const opened = open();
    call = opened;
    void opened.write(sample.png.subarray(0, 20));
    opened.answer
      .then(({ status }) => {
        opened.destroy();
        if (status !== 429) return;
        onRefusal();
        start();
      })
      .catch(() => {});
  }
  start();
  return { destroy: () => call?.destroy() };
}

/** A response that has begun, and of which nothing more is read. */
async function stalled(path: string, headers: Record<string, string>): Promise<Held> {
  const call = get(material.url + path, { headers, agent: false }).on('error', () => {});
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  expect(response.statusCode).toBe(200);
  return call;
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
  const held = times(concurrent.outputFiles.each, () => begin(() => openPut(owner.token, url)));
  await until(own.send, ({ status }) => status === 429);
  expect((await theirs.send()).status).toBe(200);
  await expectBound(held, own.send);
});

test('an account writes sixteen assets at a time', async () => {
  const owner = await material.owner();
  const path = `/v1/sites/${owner.siteId}/assets/src/assets/a.png`;
  const held = times(concurrent.assetWrites.each, () => begin(() => openPut(owner.token, material.url + path)));
  await expectBound(held, () => owner.call('PUT', path, { raw: sample.png }));
});

test('four files are sent through a link at a time; another link’s pass', async () => {
  const owner = await material.owner();
  const [link, other] = [await material.link(owner, owner.siteId), await material.link(owner, owner.siteId)];
  const held = times(concurrent.linkUploads.each, () => begin(() => openSend(link.address, 'a.png')));
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
  const held = sends.map((address) => begin(() => openSend(address, 'a.png')));
  await expectBound(held, () => callWith(material.url)('POST', `/u/${links[4]?.secret}`, { raw: sample.png }));
});

test('a fifth account sends a file while four hold all places slowly', async () => {
  const [fifth, ...four] = await Promise.all(times(5, () => material.owner()));
  const path = ({ siteId }: { siteId: string }) => `/v1/sites/${siteId}/assets/src/assets/a.png`;
  const put = (owner: (typeof four)[number]) => owner.call('PUT', path(owner), { raw: sample.png });
  let refused = 0;
  const slow = four.flatMap((owner) =>
    times(concurrent.assetWrites.each, () =>
      begin(
        () => openPut(owner.token, material.url + path(owner)),
        () => {
          refused += 1;
        },
      ),
    ),
  );
  for (const owner of four)
    await until(
      () => put(owner),
      ({ status }) => status === 429,
    );
  const before = refused;
  expect((await put(fifth as (typeof four)[number])).status).toBe(200);
  await until(
    async () => refused,
    (now) => now > before,
  );
  for (const call of slow) call.destroy();
});

test('an account reads eight files at a time, however slowly it reads them', async () => {
  const owner = await material.owner();
  const pdf = (spaces: number) => `%PDF-1.7\n${' '.repeat(spaces)}\n%%EOF\n`;
  expect((await material.put(owner, owner.siteId, 'public/large.pdf', pdf(16_000_000))).status).toBe(200);
  const path = `/v1/sites/${owner.siteId}/assets/public/`;
  expect((await material.put(owner, owner.siteId, 'public/small.pdf', pdf(1))).status).toBe(200);
  const headers = { authorization: `Bearer ${owner.token}` };
  const held = await Promise.all(times(concurrent.assetReads.each, () => stalled(`${path}large.pdf`, headers)));
  await expectBound(held, () => owner.call('GET', `${path}small.pdf`));
});

test('an account follows sixteen build logs at a time, and can read one still', async () => {
  const owner = await material.owner();
  const publish = { body: {}, headers: { prefer: 'respond-async' } };
  const { body } = await owner.call('POST', `/v1/sites/${owner.siteId}/publish`, publish);
  const path = `/v1/deployments/${body.id}/log`;
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${owner.token}` };
  const held = await Promise.all(times(concurrent.logStreams.each, () => stalled(path, headers)));
  /** Whether a further follower is accepted; it hangs up. */
  async function next(): Promise<Answer> {
    const stop = new AbortController();
    const answer = await fetch(material.url + path, { headers, signal: stop.signal });
    const text = answer.status === 200 ? '' : await answer.text();
    stop.abort();
    return { status: answer.status, headers: answer.headers, text, body: text && JSON.parse(text) };
  }
  expect((await next()).status).toBe(429);
  expect((await owner.call('GET', path)).status).toBe(200);
  await expectBound(held, next);
});

test('a body whose client disconnected before it was read ends', async () => {
  const content = new PassThrough();
  content.destroy();
  await once(content, 'close');
  await expect(text(passBytes(content, new PassThrough(), () => new Error('cut short')))).rejects.toThrow('cut short');
});

test('HEAD of a file or of a form’s submissions is not supported', async () => {
  const owner = await material.owner();
  for (const path of [`/v1/sites/${owner.siteId}/assets/public/a.png`, '/v1/forms/form_x/submissions?format=csv']) {
    const { status, headers } = await fetch(material.url + path, { method: 'HEAD' });
    expect([status, headers.get('allow')?.includes('HEAD')]).toEqual([405, false]);
  }
});
