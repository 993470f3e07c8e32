/** The API, its tools and git answer programs: never a page, whatever a client accepts. */
import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const anyone = callWith(fixture.url);

/** Every path of the API's own description, with ids that do not exist. */
async function describedPaths(): Promise<[string, string][]> {
  const { paths } = (await anyone('GET', '/openapi.json')).body as { paths: Record<string, object> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method): [string, string] => [method.toUpperCase(), path.replace(/\{[^}]+\}/g, 'x')]),
    );
}

test('no call of the API answers with HTML, with or without a token', async () => {
  const owner = await fixture.newCaller();
  const paths = await describedPaths();
  expect(paths.length).toBeGreaterThan(100);
  const strange: [string, string][] = [
    ['GET', '/v1'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/%zz'],
    ['PUT', '/v1/account'],
    ['POST', '/v1/sites'],
  ];
  for (const [method, path] of [...paths, ...strange]) {
    for (const call of [anyone, owner.call]) {
      const { headers } = await call(method, path, { headers: { accept } });
      expect(`${method} ${path} ${headers.get('content-type')}`).not.toContain('html');
    }
  }
});

test('the calls of a site that succeed answer with JSON in a browser too', async () => {
  const owner = await fixture.newCaller();
  const site = await people(fixture).newSite(owner);
  for (const path of ['/v1/account', '/v1/sites', `/v1/sites/${site.id}`, `/v1/sites/${site.id}/history`]) {
    const { status, headers } = await owner.call('GET', path, { headers: { accept } });
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
  }
});

test('neither the tools nor git answer with HTML', async () => {
  const owner = await fixture.newCaller();
  const calls: [string, string][] = [
    ['GET', '/mcp'],
    ['POST', '/mcp'],
    ['DELETE', '/mcp'],
    ['GET', '/git'],
    ['GET', '/git/site_x/source.git/info/refs?service=git-upload-pack'],
    ['GET', '/git/site_x/source.git/HEAD'],
    ['POST', '/git/site_x/source.git/git-upload-pack'],
    ['GET', '/git/%zz'],
  ];
  for (const [method, path] of calls) {
    for (const call of [anyone, owner.call]) {
      const { headers, text } = await call(method, path, { headers: { accept } });
      expect(`${method} ${path} ${headers.get('content-type')}`).not.toContain('html');
      expect(text).not.toMatch(/<html|<!doctype/i);
    }
  }
});
