import { expect, test } from 'vitest';
import { useStack } from '#test/stack/stack.ts';
import { change, expectPage, newSite, page, publish } from './story.ts';

const stack = useStack();

test('_redirects take effect with their version, and unusable rules fail it with the line', async () => {
  const site = await newSite();
  await change(site, 'src/pages/index.astro', page('Front'));
  await change(site, '_redirects', '# moved in spring\n/old / 301\n/shop/* https://shop.example/:splat 302\n');
  const live = await publish(site);
  expect([live.status, live.body.status]).toEqual([200, 'live']);
  await expectPage(site, '/', 'Front');
  const moved = await stack.visit(site.name, '/old?from=a');
  expect([moved.status, moved.headers.location]).toEqual([301, '/?from=a']);
  const shop = await stack.visit(site.name, '/shop/shoes/12');
  expect([shop.status, shop.headers.location]).toEqual([302, 'https://shop.example/shoes/12']);
  expect((await stack.visit(site.name, '/_redirects')).status).toBe(404);

  await change(site, '_redirects', '/old / 301\n/a javascript:alert(1)\n');
  const failed = await publish(site);
  expect([failed.status, failed.body.error.code]).toEqual([400, 'invalid_redirects']);
  expect(failed.body.error.message).toContain('Line 2 of _redirects has a target that is neither a path on the site');
  const { body } = await stack.api(`/v1/sites/${site.id}/deployments`);
  expect(body.items[0]).toMatchObject({ status: 'failed', error: { code: 'invalid_redirects' } });
  expect((await stack.visit(site.name, '/old')).status).toBe(301);

  await change(site, '_redirects', '/app/* /index.html 200\n');
  await change(site, '_headers', '/*\n  referrer-policy: no-referrer\n');
  expect((await publish(site)).status).toBe(200);
  const deep = await stack.visit(site.name, '/app/x');
  expect([deep.status, deep.headers['referrer-policy']]).toEqual([200, 'no-referrer']);
  await change(site, '_headers', '/*\n  location: /\n');
  const wrong = await publish(site);
  expect([wrong.status, wrong.body.error.code]).toEqual([422, 'build_failed']);
  expect(wrong.body.error.message).toContain('Line 2 of _headers sets the header location');
});
