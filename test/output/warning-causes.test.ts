/** Warnings of one cause are one item. */
import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite } from './fixture.ts';
import { sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { publish } = sender(owner);
const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;
const page = (body: string, head = '<title>Page</title>') =>
  `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;
/** The answer of a publish has what was found in a moment; who asks later has the rest. */
const wholeOf = async ({ id, warnings }: { id: string; warnings: { pages: { read: number; all: number } } }) =>
  warnings.pages.read === warnings.pages.all ? warnings : (await read(id)).warnings;
const warned = async (files: Record<string, string | Buffer>) => wholeOf(await publish(await createSite(owner), files));

test('a fault on many pages is one warning, with five places', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 7 }, (_, n) => [
      `${n}.html`,
      page('<a href="/gone">x</a><img src="data:,a"><img src="data:,b">'),
    ]),
  );
  const { items, counts } = await warned({ 'index.html': page(''), ...files });
  const places = ['0.html', '1.html', '2.html', '3.html', '4.html'];
  expect(items).toEqual([
    expect.objectContaining({ kind: 'image_without_alt', path: '0.html', count: 14, places }),
    expect.objectContaining({ kind: 'broken_link', path: '0.html', target: '/gone', count: 7, places }),
  ]);
  expect(counts).toMatchObject({ broken_link: 7, image_without_alt: 14 });
});

test('each text of a template that is published is a warning', async () => {
  const footer = '<footer>Call us: [[Your phone\n number]]</footer>';
  const own = '<pre>[[a]]</pre><code>if [[x]]</code><script>y = [[z]]</script><p>[[ -f a ]] [[1]] [[]] [x] [[a[b]]';
  const { items, counts } = await warned({
    'index.html': page(`<img src="data:,a" alt="[[What it shows]]">${footer}${own}`, '<title>Page</title>'),
    'about.html': page(`<p>It's [[An &amp; with <b>more</b>]], [[Your &quot;own&quot;]]</p>${footer}`),
  });
  const warning = (target: string, places: string[]) =>
    expect.objectContaining({ kind: 'template_text', target, count: places.length, places });
  expect(items).toEqual([
    warning('Your "own"', ['about.html']),
    warning('Your phone number', ['about.html', 'index.html']),
    warning('What it shows', ['index.html']),
  ]);
  expect(counts.template_text).toBe(4);
  expect(items[2].message).toContain('index.html shows “What it shows” of the template.');
});

test('a redirect to a missing page of the site is a warning', async () => {
  const site = await createSite(owner);
  const rules = [
    { from: '/called', to: '/gone-by-call', status: 302 },
    { from: '/own', to: `${new URL(site.address).origin}/gone-too`, status: 301 },
  ];
  await owner.call('PUT', `/v1/sites/${site.id}/redirects`, { body: { rules } });
  const lines = [
    '/a /there',
    '/b /b-missing 301',
    '/c/* /:splat',
    '/d https://elsewhere.example/gone',
    '/e/* /a',
    '/f 410',
    '/g /there?x=1#part',
    '/h/* /missing.html 200',
  ];
  const files = { 'index.html': page(''), 'there.html': page(''), _redirects: lines.join('\n') };
  const { items, counts } = await wholeOf(await publish(site, files));
  expect(items.map(({ path, target }: Record<string, string>) => [path, target])).toEqual([
    ['/called', '/gone-by-call'],
    ['/own', '/gone-too'],
    ['/b', '/b-missing'],
    ['/h/*', '/missing.html'],
  ]);
  expect(counts.broken_redirect).toBe(4);
  expect(items[2].message).toBe('The redirect from /b leads to /b-missing, which does not exist in this version.');
});

test('warnings that an older release stored are read by cause', async () => {
  const live = await publish(await createSite(owner), { 'index.html': page('') });
  const item = (path: string) => ({ kind: 'broken_link', path, target: '/gone', message: `${path} is wrong.` });
  const stored = { items: [item('a.html'), item('b.html')], counts: { broken_link: 2 }, pages: { read: 2, all: 2 } };
  await fixture.deps
    .em()
    .execute('update deployment set warnings = ?::jsonb where id = ?', [JSON.stringify(stored), live.id]);
  expect((await read(live.id)).warnings.items).toEqual([{ ...item('a.html'), count: 2, places: ['a.html', 'b.html'] }]);
});
