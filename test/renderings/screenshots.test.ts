/**
 * Screenshots of a version, drawn by Chromium behind its wall.
 *
 * @module-tag chromium
 * @module-tag bubblewrap
 */

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { createRenderingFixture, goodPage, sizeOf } from './fixture.ts';

// A busy machine shows pages slowly.
vi.setConfig({ testTimeout: 150_000 });
const fixture = await createRenderingFixture({ withBrowser: true });
afterAll(() => fixture.close());
const { owner } = fixture;

async function picture(deployment: string, query = ''): Promise<{ type: string | null; bytes: Buffer }> {
  const answer = await fetch(`${fixture.url}/v1/deployments/${deployment}/screenshot${query}`, {
    headers: { authorization: `Bearer ${owner.token}`, prefer: 'wait=50' },
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
  const all = execFileSync('ps', ['-eo', 'pid,user:20,args'], { encoding: 'utf8' });
  const own = all
    .split('\n')
    .filter(
      (line) => line.includes('--user-data-dir=/tmp/profile ') && !line.includes('bwrap') && !line.includes('/bin/sh'),
    );
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((line) => / root /.test(line))).toEqual([]);
});
