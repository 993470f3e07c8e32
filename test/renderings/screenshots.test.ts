/**
 * Screenshots of a version, drawn by Chromium behind its wall.
 *
 * @module-tag chromium
 * @module-tag bubblewrap
 */

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cardPicture } from '#rules/looks.ts';
import { until } from '#test/stack/until.ts';
import { createRenderingFixture, errorOf, goodPage, sizeOf } from './fixture.ts';

type Compared = { page: string; change: string; width: number | null };

// A busy machine shows pages slowly.
vi.setConfig({ testTimeout: 150_000 });
let fixture: Awaited<ReturnType<typeof createRenderingFixture>>;
beforeAll(async () => {
  fixture = await createRenderingFixture({ withBrowser: true });
}, 60_000);
afterAll(() => fixture.close());

async function picture(deployment: string, query = ''): Promise<{ type: string | null; bytes: Buffer }> {
  const answer = await fetch(`${fixture.url}/v1/deployments/${deployment}/screenshot${query}`, {
    headers: { authorization: `Bearer ${fixture.owner.token}`, prefer: 'wait=50' },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(answer.status, bytes.subarray(0, 300).toString()).toBe(200);
  return { type: answer.headers.get('content-type'), bytes };
}

const tall = goodPage(
  '<div style="height: 2000px; background: linear-gradient(#fff, #48c)"></div><a href="/about">About</a>',
);
const dark = '<style>@media (prefers-color-scheme: dark) { body { background: #000 } }</style>';

test('a page of a version is drawn in each form', async () => {
  const { deployment } = await fixture.show({
    'index.html': tall,
    'about/index.html': goodPage('About', { head: dark }),
  });
  const usual = await picture(deployment);
  expect([usual.type, sizeOf(usual.bytes)]).toEqual(['image/webp', { type: 'webp', width: 390, height: 844 }]);
  const full = await picture(deployment, '?height=full&width=800&format=png');
  expect([full.type, sizeOf(full.bytes).width]).toEqual(['image/png', 800]);
  expect(sizeOf(full.bytes).height).toBeGreaterThan(2000);
  const [light, night] = [
    await picture(deployment, '?path=/about/&format=png'),
    await picture(deployment, '?path=/about&scheme=dark&format=png'),
  ];
  expect(light.bytes.equals(night.bytes)).toBe(false);
  const again = await picture(deployment, '?path=/about/&format=png');
  expect(again.bytes.equals(light.bytes)).toBe(true);
});

test('a picture shows the very version, and nothing of another site', async () => {
  const { deployment, publish } = await fixture.show({
    'index.html': goodPage('<p style="background: red; height: 400px">First'),
  });
  const first = await picture(deployment, '?format=png');
  const later = await publish({ 'index.html': goodPage('<p style="background: blue; height: 400px">Second') });
  const second = await picture(later, '?format=png');
  expect(second.bytes.equals(first.bytes)).toBe(false);
  const other = await fixture.show({ 'index.html': goodPage('<p style="background: red; height: 400px">First') });
  expect((await picture(other.deployment, '?format=png')).bytes.equals(first.bytes)).toBe(true);
});

test('a page that never ends keeps no other site waiting', async () => {
  const endless = await fixture.show({ 'index.html': goodPage('<script>for (;;) {}</script>') });
  const calm = await fixture.show({ 'index.html': goodPage('Calm') });
  const asked = fixture.owner.call('GET', `/v1/deployments/${endless.deployment}/screenshot`, {
    headers: { prefer: 'wait=50' },
  });
  const after = await picture(calm.deployment);
  expect(sizeOf(after.bytes).width).toBe(390);
  const answer = await asked;
  // Its scripts are stopped, so what was there until then may be drawn.
  if (answer.status !== 200) expect(errorOf(answer)).toMatchObject({ code: 'page_not_shown', retryable: false });
});

test('a comparison names the pages that look different, where, and what only moved', async () => {
  const line = (text: string) => `<p style="height: 30px; margin: 0">${text}</p>`;
  const band = '<div style="height: 30px; margin: 0 calc(50% - 50vw); background: green"></div>';
  const lines = Array.from({ length: 9 }, (_, n) => line(`Line ${n} of the page`));
  const same = { 'about.html': goodPage('About'), 'gone.html': goodPage('Gone') };
  const { deployment: first, publish } = await fixture.show({
    ...same,
    'index.html': goodPage(lines.join('')),
    'moved.html': goodPage(lines.join('')),
    'style.css': 'b { color: red }',
  });
  const { 'gone.html': _, ...kept } = same;
  const second = await publish({
    ...kept,
    // More space above what follows is no difference.
    'index.html': goodPage(lines.with(4, line('Another line')).toSpliced(7, 0, line('')).join('')),
    // A band of another colour is one, however plain it is.
    'moved.html': goodPage([band, ...lines].join('')),
    'new.html': goodPage('New'),
    'style.css': 'b { color: blue }',
  });
  const asked = await fixture.owner.call('POST', `/v1/deployments/${second}/comparisons`, {
    body: {},
    headers: { prefer: 'respond-async' },
  });
  const read = async () =>
    (await fixture.owner.call('GET', `/v1/comparisons/${asked.body.id}`, { headers: { prefer: 'wait=20' } })).body;
  const { pages, unchanged, against } = await until(read, ({ status }) => status === 'done', 120_000);
  expect(against).toBe(first);
  expect(pages.map(({ page, change, width }: Compared) => [page, change, width])).toEqual([
    ['/', 'changed', 390],
    ['/', 'changed', 1280],
    ['/moved', 'changed', 390],
    ['/moved', 'changed', 1280],
    ['/new', 'added', null],
    ['/gone', 'removed', null],
  ]);
  expect(unchanged).toEqual(['/about']);
  for (const { regions } of pages.slice(0, 4)) {
    expect(regions).toHaveLength(1);
    // A line, not all below it.
    expect(regions[0].height).toBeGreaterThan(5);
    expect(regions[0].height).toBeLessThanOrEqual(32);
  }
  const { url, width, height } = pages[0].picture;
  const sent = await fetch(`${fixture.url}${new URL(url).pathname}`, {
    headers: { authorization: `Bearer ${fixture.owner.token}` },
  });
  expect(sizeOf(Buffer.from(await sent.arrayBuffer()))).toEqual({ type: 'webp', width, height });

  // The same versions' pictures for cards, which follow a publish.
  const cards = () =>
    fixture.deps
      .em()
      .execute<{ sha256: string }[]>(
        `select sha256 from rendering_picture join rendering on rendering_id = id where deployment_id = ? and form = 'card'`,
        [second],
      );
  const [card] = await until(cards, ({ length }) => length === 1, 60_000);
  const bytes = await fixture.deps.store.readAll(card?.sha256 ?? '');
  expect(sizeOf(bytes as Buffer)).toEqual({ type: 'webp', width: cardPicture.width, height: cardPicture.height });
  expect(bytes?.length).toBeLessThan(cardPicture.bytesMax);
});

test('a direction of a sketch is drawn, and its scripts do not run', async () => {
  const shown = (body: string) => `<!doctype html><title>One</title><body style="margin: 0">${body}`;
  const red = '<div style="height: 900px; background: red"></div>';
  const script = `<script>document.body.textContent = 'ran'</script>`;
  const directions = [red, `${red}${script}`, red.replace('red', 'blue')].map((body, n) => ({
    name: `D${n}`,
    html: shown(body),
  }));
  const { body: sketch } = await fixture.owner.call('POST', '/v1/sketches', { body: { title: 'T', directions } });
  const draw = async (query: string) => {
    const answer = await fetch(`${fixture.url}/v1/sketches/${sketch.id}/screenshot?format=png&${query}`, {
      headers: { authorization: `Bearer ${fixture.owner.token}`, prefer: 'wait=50' },
    });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const [first, scripted, blue] = [await draw('direction=1'), await draw('direction=2'), await draw('direction=3')];
  expect(sizeOf(first.bytes)).toEqual({ type: 'png', width: 390, height: 844 });
  expect(scripted.bytes.equals(first.bytes)).toBe(true);
  expect(blue.bytes.equals(first.bytes)).toBe(false);
  expect((await draw('direction=4')).status).toBe(404);
  await fixture.owner.call('DELETE', `/v1/sketches/${sketch.id}`);
  expect((await draw('direction=1')).status).toBe(404);
});

test('nothing that a page requests leaves the machine or reads a file', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end('x');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const away = `http://127.0.0.1:${port}`;
  const script = `<img src="${away}/a.png"><iframe src="file:///etc/fonts/fonts.conf"></iframe><iframe src="${away}/frame"></iframe>
    <script>fetch('${away}/fetch').catch(() => {}); new WebSocket('ws://127.0.0.1:${port}/'); navigator.sendBeacon('${away}/beacon', 'x');
    new Worker(URL.createObjectURL(new Blob(["fetch('${away}/worker')"])));
    navigator.serviceWorker?.register('/sw.js').catch(() => {}); open('${away}/popup'); alert('stop'); print();
    new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] }).createOffer();
    location.hash = 'there';</script>`;
  const { deployment } = await fixture.show({ 'index.html': goodPage(script), 'sw.js': `fetch('${away}/service')` });
  await picture(deployment);
  server.close();
  expect(requests).toBe(0);
});

test('Chromium runs as a user of its own, without a network and without privileges', async () => {
  const own = () =>
    execFileSync('ps', ['-eo', 'pid,user:20,args'], { encoding: 'utf8' })
      .split('\n')
      .filter(
        (line) =>
          line.includes('--user-data-dir=/tmp/profile ') && !line.includes('bwrap') && !line.includes('/bin/sh'),
      );
  // The next browser may still be starting.
  await expect.poll(() => own().length).toBeGreaterThan(0);
  expect(own().filter((line) => / root /.test(line))).toEqual([]);
});
