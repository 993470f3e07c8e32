/**
 * Forty hostile pages in the browser: each ends within its bounds, nothing leaves, and the next site's picture is right.
 * `--long` has all of them.
 *
 * @module-tag chromium
 * @module-tag bubblewrap
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { BrowserFault } from '#providers/browser/pipe.ts';
import type { SiteFile } from '#providers/browser/site-files.ts';
import { goodPage, openTestRenderer } from '#test/renderings/fixture.ts';
import { sized } from './size.ts';

const renderer = await openTestRenderer();
let connections = 0;
const outside = createServer().on('connection', () => {
  connections += 1;
});
await new Promise<void>((ready) => outside.listen(0, '127.0.0.1', ready));
const { port } = outside.address() as AddressInfo;
afterAll(async () => {
  outside.close();
  await renderer.close();
});

const away = `127.0.0.1:${port}`;
const script = (code: string) => `<script>${code}</script>`;
const worker = (code: string) => script(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])))`);
const forever = 'for (;;) {}';
const boundMs = 60_000;

const pages: Record<string, string> = {
  'a script without an end': script(forever),
  'a script without an end after load': script(`onload = () => { ${forever} }`),
  'a promise chain without an end': script('(function go() { Promise.resolve().then(go) })()'),
  'timers without an end': script('setInterval(() => { for (let i = 0; i < 1e7; i++); }, 0)'),
  'frames without an end': script(
    '(function go() { requestAnimationFrame(go); document.body.append("x".repeat(1000)) })()',
  ),
  'ten workers that mine': Array.from({ length: 10 }, () => worker(`let h = 1; for (;;) h = Math.imul(h, 31)`)).join(
    '',
  ),
  'memory without an end': script('const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))'),
  'buffers without an end': script('const all = []; for (;;) all.push(new Uint8Array(1e8).fill(1))'),
  'strings without an end': script('let s = "x"; for (;;) s += s'),
  'a huge canvas': script(
    'const c = document.createElement("canvas"); c.width = c.height = 32000; c.getContext("2d").fillRect(0, 0, 32000, 32000); document.body.append(c)',
  ),
  'a thousand canvases': script(
    'for (let i = 0; i < 1000; i++) { const c = document.createElement("canvas"); c.width = c.height = 4000; c.getContext("2d").fillRect(0, 0, 9, 9); document.body.append(c) }',
  ),
  'WebGL without an end': script(
    'const g = document.createElement("canvas").getContext("webgl"); for (let i = 0; i < 1e7; i++) g?.createBuffer()',
  ),
  'a million elements': script('document.body.innerHTML = "<div><p>x</p></div>".repeat(1e6)'),
  'a page a billion pixels tall': '<div style="height: 1000000000px; background: red"></div>',
  'nested frames': '<iframe src="/"></iframe><iframe src="/?2"></iframe>',
  'a thousand frames': '<iframe srcdoc="<p>x"></iframe>'.repeat(1000),
  'a reload without an end': script('location.reload()'),
  'a navigation without an end': script('setInterval(() => { location.href = "/?" + Math.random() }, 1)'),
  'a meta refresh': '<meta http-equiv="refresh" content="0;url=/?again">',
  'a navigation to another host': script(`location.href = 'http://${away}/'`),
  'a navigation to a file': script('location.href = "file:///etc/passwd"'),
  'a file in a frame': '<iframe src="file:///etc/passwd"></iframe>',
  'requests to localhost': script(`for (let i = 0; i < 100; i++) fetch('http://${away}/').catch(() => {})`),
  'a web socket': script(`new WebSocket('ws://${away}/')`),
  'a peer connection': script(
    `const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${away}' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o))`,
  ),
  'a prefetch of another host': `<link rel="dns-prefetch" href="//${away}"><link rel="preconnect" href="http://${away}"><link rel="prerender" href="http://${away}">`,
  'a beacon': script(
    `addEventListener('pagehide', () => navigator.sendBeacon('http://${away}/', 'x')); navigator.sendBeacon('http://${away}/', 'x')`,
  ),
  'a service worker': script('navigator.serviceWorker?.register("/worker.js")'),
  'a hundred windows': script(`for (let i = 0; i < 100; i++) open('/?' + i)`),
  'dialogs without an end': script('for (;;) alert("stop")'),
  'a question before unload': script('onbeforeunload = () => "stay"; document.body.click()'),
  'a download': script(
    'const a = document.createElement("a"); a.href = "data:application/octet-stream,xxxx"; a.download = "x.bin"; a.click()',
  ),
  printing: script('print(); for (let i = 0; i < 50; i++) print()'),
  'a console that never rests': script('for (;;) console.error("x".repeat(1e5))'),
  'one word of a console that is very large': script('console.error("x".repeat(4e8))'),
  'a document of a thousand pages': '<embed src="/bomb.pdf" width="100%" height="900">',
  'a picture that unpacks to a gigabyte': '<img src="/bomb.svg">',
  'a font that never ends':
    '<style>@font-face { font-family: F; src: url(/slow.woff2) } body { font-family: F }</style><p>Text',
  'filters upon filters': `<div style="filter: ${'blur(99px) '.repeat(60)}; height: 5000px; background: red"></div>`,
  'a pattern that never matches': script('/^(a+)+$/.test("a".repeat(40) + "!")'),
};

const look = { width: 390, height: 844, scheme: 'light' } as const;
const calm = goodPage('<p style="background: teal; height: 300px">Calm');

async function read(path: string): Promise<SiteFile | undefined> {
  if (path.startsWith('/slow')) return await new Promise(() => {});
  if (path === '/bomb.pdf')
    return {
      type: 'application/pdf',
      body: Buffer.from(`%PDF-1.4\n${'1 0 obj <</Type /Page>> endobj\n'.repeat(10_000)}`),
    };
  const layers = Array.from({ length: 9 }, (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(10)}</g>`).join(
    '',
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><defs><rect id="g0" width="9" height="9"/>${layers}</defs><use href="#g9"/></svg>`;
  return path === '/bomb.svg' ? { type: 'image/svg+xml', body: Buffer.from(svg) } : undefined;
}

async function draw(key: string, html: string) {
  const version = {
    key,
    account: key,
    origin: 'https://site.test',
    read: async (path: string) =>
      path.split('?')[0] === '/' ? { type: 'text/html; charset=utf-8', body: Buffer.from(html) } : await read(path),
  };
  const limits = { timeoutMs: 25_000, signal: new AbortController().signal, isAsked: true };
  return await renderer.visit({ version, path: '/', look }, limits, (page) => page.picture('png', 'page'));
}

const names = Object.keys(pages);
const chosen = names.filter((_, n) => n % sized({ short: 5, long: 1 }) === 0);
const before = await draw('calm', calm);

test.each(chosen)('%s ends in time, and the next picture is right', { timeout: 2 * boundMs }, async (name) => {
  const began = performance.now();
  const outcome = await draw(name, pages[name] ?? '').then(
    (bytes) => `drawn, ${bytes.length} bytes`,
    (error: unknown) => {
      if (!(error instanceof BrowserFault)) throw error;
      return error.message;
    },
  );
  const took = performance.now() - began;
  console.info(`${name}: ${Math.round(took)} ms, ${outcome}`);
  expect(took).toBeLessThan(boundMs);
  expect((await draw(`calm after ${name}`, calm)).equals(before)).toBe(true);
  expect(connections).toBe(0);
  expect(process.memoryUsage().rss).toBeLessThan(1.5 * 1024 ** 3);
});

test('there are forty hostile pages', () => expect(names).toHaveLength(40));
