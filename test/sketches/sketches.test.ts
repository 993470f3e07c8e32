import { afterAll, expect, test } from 'vitest';
import { createFixture as createApiFixture } from '#test/api/fixture.ts';
import { createFixture, errorOf, sha256 } from '#test/output/fixture.ts';
import { launchChromium } from '#test/web/chromium.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();

const loud = (
  name: string,
) => `<!doctype html><html><head><title>${name}</title><meta http-equiv="refresh" content="0;url=https://evil.example/">
<style>body{background:#fde;font:2rem serif}</style><script>document.title='ran'</script></head>
<body onload="document.title='ran'"><h1>${name}</h1><img src=x onerror="document.title='ran'"><a href="javascript:document.title='ran'">press</a>
<form action="https://evil.example/"><button>send</button></form></body></html>`;
const direction = (name: string, note?: string) => ({ name, html: loud(name), ...(note ? { note } : {}) });
const show = (body: unknown, caller = owner) => caller.call('POST', '/v1/sketches', { body });
const labelOf = (url: string) => new URL(url).hostname.split('.')[0] ?? '';
const visit = (url: string, path = '/') => fixture.visit(labelOf(url), path);

test('each sketch is on its own secret host, and one page shows them all', async () => {
  const { status, body } = await show({
    title: 'A bakery',
    directions: [direction('Warm', 'Serif, & cream.'), direction('Cool <b>')],
  });
  expect([status, body.status, body.directions.length]).toEqual([200, 'shown', 2]);
  const labels = [body.url, ...body.directions.map(({ url }: { url: string }) => url)].map(labelOf);
  expect(new Set(labels).size).toBe(3);
  for (const label of labels) expect(label).toMatch(/^s--[0-9a-z]{26}$/);
  const warm = await visit(body.directions[0].url);
  expect([warm.status, warm.text]).toEqual([200, loud('Warm')]);
  const all = await visit(body.url);
  expect(all.text).toContain('A bakery');
  expect(all.text).toContain('Serif, &#38; cream.');
  expect(all.text).toContain('Cool &#60;b&#62;');
  for (const label of labels.slice(1)) expect(all.text).toContain(`src="//${label}.${fixture.config.baseDomain}/"`);
});

test('sketch pages are not indexed or cached, and run and send nothing', async () => {
  const { body } = await show({ title: 'T', directions: [direction('One')] });
  for (const url of [body.url, body.directions[0].url]) {
    const { headers } = await visit(url);
    expect(headers['x-robots-tag']).toContain('noindex');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src (?!'none')/);
  }
  const policy = (await visit(body.directions[0].url)).headers['content-security-policy'];
  expect(policy).toContain("form-action 'none'");
  const choice = `form-action 'self' ${fixture.config.baseUrl};`;
  expect((await visit(body.url)).headers['content-security-policy']).toContain(choice);
  expect(policy).toMatch(/; sandbox$/);
  expect(policy).toContain(`frame-ancestors ${labelOf(body.url)}.${fixture.config.baseDomain}:*;`);
  expect((await visit(body.url, '/other')).status).toBe(404);
  expect((await visit(body.directions[0].url, '/robots.txt')).status).toBe(404);
});

test('a removed sketch is gone at once, on every host', async () => {
  const { body } = await show({ title: 'T', directions: [direction('One'), direction('Two')] });
  const urls = [body.url, ...body.directions.map(({ url }: { url: string }) => url)];
  for (const url of urls) expect((await visit(url)).status).toBe(200);
  const down = await owner.call('DELETE', `/v1/sketches/${body.id}`);
  expect([down.status, down.body.status]).toEqual([200, 'removed']);
  for (const url of urls) expect((await visit(url)).status).toBe(404);
  expect((await owner.call('DELETE', `/v1/sketches/${body.id}`)).body).toEqual(down.body);
});

test('a sketch is invisible to other accounts', async () => {
  const { body } = await show({ title: 'T', directions: [direction('One')] });
  expect(errorOf(await stranger.call('DELETE', `/v1/sketches/${body.id}`)).code).toBe('not_found');
  expect((await visit(body.url)).status).toBe(200);
});

test.each([
  ['no direction', { title: 'T', directions: [] }],
  ['seven directions', { title: 'T', directions: Array.from({ length: 7 }, (_, n) => direction(`${n}`)) }],
  ['a direction without a page', { title: 'T', directions: [{ name: 'One' }] }],
  ['a direction with an empty page', { title: 'T', directions: [{ name: 'One', html: ' ' }] }],
  ['a direction without a name', { title: 'T', directions: [{ html: 'x' }] }],
  ['a direction with an empty name', { title: 'T', directions: [{ name: ' ', html: 'x' }] }],
  ['no title', { directions: [direction('One')] }],
  ['an empty title', { title: '', directions: [direction('One')] }],
  ['directions that are not a list', { title: 'T', directions: 'One' }],
  ['no directions', { title: 'T' }],
  ['a note that is too long', { title: 'T', directions: [direction('One', 'x'.repeat(1_001))] }],
])('a sketch with %s is invalid_sketches', async (_what, body) => {
  const answer = await show(body);
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_sketches']);
});

test('a repeated call returns the same sketch, and 50 are listed at most', async () => {
  const caller = await fixture.newCaller();
  const body = { title: 'T', directions: [direction('One')] };
  const once = () => caller.call('POST', '/v1/sketches', { body, headers: { 'idempotency-key': 'the-same' } });
  const first = (await once()).body;
  expect(first.status).toBe('shown');
  expect((await once()).body).toEqual(first);
  await fixture.deps
    .em()
    .execute(
      `insert into sketch (id, account_id, title, status, created_at) select 'sketch_' || n, ?, 'T', 'shown', ? from generate_series(1, 49) n`,
      [caller.accountId, fixture.clock.now()],
    );
  const refused = { name: 'One too many', html: '<p>nobody keeps this page' };
  expect(errorOf(await show({ title: 'T', directions: [refused] }, caller)).code).toBe('plan_limit');
  expect((await fixture.deps.store.sizes([sha256(refused.html)])).size).toBe(0);
  await caller.call('DELETE', `/v1/sketches/${first.id}`);
  expect((await show(body, caller)).status).toBe(200);
});

test('without sketch hosting the calls are sketches_disabled before validation', async () => {
  const off = await createApiFixture({ FRONTAGE_SKETCHES: 'off' });
  try {
    const caller = await off.newCaller();
    for (const [method, path] of [
      ['GET', '/v1/sketches?limit=x'],
      ['POST', '/v1/sketches'],
      ['DELETE', '/v1/sketches/x'],
    ] as const) {
      const answer = await caller.call(method, path, method === 'GET' ? {} : { raw: '{' });
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'sketches_disabled']);
    }
  } finally {
    await off.close();
  }
});

test('hosts that resemble a sketch’s are unknown', async () => {
  for (const label of ['s--', `s--${'0'.repeat(26)}`, `s--${'0'.repeat(25)}`, `s--${'0'.repeat(27)}`, 's--x.y']) {
    expect([label, (await fixture.visit(label, '/')).status]).toEqual([label, 404]);
  }
  // No hostname may have this character.
  expect((await fixture.visit(`s--${"'".repeat(26)}`, '/')).status).toBe(400);
});

test('no script runs; sketches are side by side on desktops, stacked on phones', { tags: 'chromium' }, async () => {
  const directions = [direction('Warm', 'Serif and cream.'), direction('Cool', 'Slate and air.'), direction('Loud')];
  const { body } = await show({ title: 'A bakery on the corner', directions });
  const chrome = await launchChromium();
  const at = (url: string) => `http://${new URL(url).hostname}:${fixture.port}/`;
  try {
    const page = await chrome.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(at(body.directions[0].url));
    await page.getByText('press').click();
    expect(await page.title()).toBe('Warm');
    expect(page.url()).toBe(at(body.directions[0].url));
    await page.goto(at(body.url));
    const places = async () => {
      const frames = page.locator('iframe');
      const boxes = [];
      for (let n = 0; n < 3; n++) {
        await frames.nth(n).scrollIntoViewIfNeeded();
        await page.frameLocator(`iframe >> nth=${n}`).getByRole('heading').waitFor();
        boxes.push(await page.locator('.view').nth(n).boundingBox());
      }
      return boxes.map((box) => ({ x: Math.round(box?.x ?? 0), width: Math.round(box?.width ?? 0) }));
    };
    expect(new Set((await places()).map(({ x }) => x)).size).toBe(3);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(new Set((await places()).map(({ x }) => x)).size).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    for (const frame of page.frames().slice(1)) expect(await frame.title()).not.toBe('ran');
  } finally {
    await chrome.close();
  }
});
