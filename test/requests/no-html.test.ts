/** Programs that ask for HTML, as a browser does, never get it from the API, from MCP or from git. */
import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture, createSite } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { id: siteId } = await createSite(owner, { template: null });
const anyone = callWith(fixture.url);
const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';

type Document = { paths: Record<string, Record<string, unknown>> };
const { paths } = (await anyone('GET', '/openapi.json')).body as Document;
const methods = ['get', 'post', 'put', 'patch', 'delete'];
/** Each call of the description, of a site that exists and of other things that do not. */
const described = Object.entries(paths)
  .filter(([path]) => path.startsWith('/v1/'))
  .flatMap(([path, calls]) =>
    methods
      .filter((method) => method in calls)
      .map((method): [string, string] => [
        method.toUpperCase(),
        path.replace('/v1/sites/{id}', `/v1/sites/${siteId}`).replace(/\{\w+\}/g, 'none'),
      ]),
  );
const others: [string, string][] = [
  ['GET', '/v1'],
  ['GET', '/v1/'],
  ['GET', '/v1/nothing'],
  ['GET', '/v1/%00'],
  ['GET', '/v1/%zz'],
  ['GET', '/%761/nothing'],
  ['GET', '/%76%31/sites'],
  ['GET', '/git/%zz'],
  ['GET', '/%67it/nothing'],
  ['PUT', '/v1/account'],
  ['GET', '/v1/sites/%'],
  ['OPTIONS', '/v1/sites'],
  ['GET', '/mcp'],
  ['POST', '/mcp'],
  ['DELETE', '/mcp'],
  ['GET', '/mcp/nothing'],
  ['GET', '/git'],
  ['GET', '/git/nothing'],
  ['GET', `/git/${siteId}.git`],
  ['GET', `/git/${siteId}.git/info/refs?service=git-upload-pack`],
  ['POST', `/git/${siteId}.git/git-receive-pack`],
  ['GET', '/git/../v1/nothing'],
];

/** The calls that were answered with HTML. */
async function answeredWithHtml(call: typeof anyone, calls: [string, string][]): Promise<string[]> {
  const found: string[] = [];
  for (const [method, path] of calls) {
    // A body that is no JSON: nothing is made.
    const { headers, text } = await call(method, path, {
      headers: { accept },
      ...(method === 'GET' ? {} : { raw: '{' }),
    });
    const isHtml = /html/.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text);
    if (isHtml) found.push(`${method} ${path}`);
  }
  return found;
}

test('no call of the API is answered with HTML, with a token or without', async () => {
  expect(described.length).toBeGreaterThan(100);
  for (const call of [anyone, owner.call]) expect(await answeredWithHtml(call, described)).toEqual([]);
});

test('neither MCP, git nor an unknown address below them is answered with HTML', async () => {
  for (const call of [anyone, owner.call]) expect(await answeredWithHtml(call, others)).toEqual([]);
  // A page of the same server, which this test would find.
  expect(await answeredWithHtml(anyone, [['GET', '/signin']])).toEqual(['GET /signin']);
});
