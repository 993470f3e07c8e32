import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { GitLimitReached } from '#providers/repositories/git.ts';
import type { Repositories } from '#providers/repositories.ts';
import { catalog } from '#runtime/errors.ts';
import { callWith, createFixture, createSite, errorOf } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const anyone = callWith(fixture.url);

/** Sends bytes as they are. Answers all that came back until the connection ended. */
async function sendRaw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

test('every response has its own request id', async () => {
  const ids = await Promise.all(
    ['/v1/account', '/v1/nothing', '/healthz', '/openapi.json'].map(async (path) =>
      (await owner.call('GET', path)).headers.get('x-request-id'),
    ),
  );
  expect(ids.every((id) => /^req_[0-9a-f]{24}$/.test(id ?? ''))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a call for which git needs too much time is plan_limit', async () => {
  const site = await createSite(owner);
  const failing = vi.spyOn(fixture.deps.repositories as Repositories, 'listTree');
  failing.mockRejectedValue(new GitLimitReached('git ls-tree exited with null'));
  try {
    const answer = await owner.call('GET', `/v1/sites/${site.id}/assets`);
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'plan_limit']);
    expect(answer.text).not.toContain('ls-tree');
  } finally {
    failing.mockRestore();
  }
});

test('an unknown address is not_found', async () => {
  for (const path of ['/v1', '/v1/', '/v1/sites/', '/v1/sites/x/nothing', '/V1/sites']) {
    const answer = await owner.call('GET', path);
    expect([path, answer.status, errorOf(answer).code]).toEqual([path, 404, 'not_found']);
  }
});

test('an unsupported method is refused, and the response lists the supported ones', async () => {
  const answer = await owner.call('PUT', '/v1/tokens/anything');
  expect(answer.status).toBe(405);
  expect(errorOf(answer).code).toBe('method_not_allowed');
  expect(answer.headers.get('allow')).toBe('DELETE, PATCH');
});

test.each(['PROPFIND', 'QUERY', 'TRACE', 'SEARCH'])(
  'a method of another protocol is refused in the same way: %s',
  async (method) => {
    const head = `${method} /v1/sites HTTP/1.1\r\nhost: a\r\nconnection: close\r\n`;
    for (const rest of ['\r\n', 'content-length: 2\r\n\r\n{]', 'content-type: text/x\r\ncontent-length: 1\r\n\r\nx']) {
      const answer = await sendRaw(`${head}${rest}`);
      expect(answer).toMatch(/^HTTP\/1\.1 405 /);
      expect(answer).toMatch(/^allow: GET, HEAD, POST\r$/im);
      expect(answer).toContain('"code":"method_not_allowed"');
    }
  },
);

test('a body over 1 MiB is body_too_large, and one of 1 MiB is read', async () => {
  const padded = (bytes: number) => {
    const start = '{"name":"a-name","title":"A title"';
    return `${start}${' '.repeat(bytes - start.length - 1)}}`;
  };
  const over = await owner.call('POST', '/v1/sites', { raw: padded(1_048_577) });
  expect([over.status, errorOf(over).code]).toEqual([400, 'body_too_large']);
  expect((await owner.call('POST', '/v1/sites', { raw: padded(1_048_576) })).status).toBe(200);
});

test.each([
  ['/v1/tokens', {}, 'The field name is required in the body.'],
  ['/v1/tokens', { name: '' }, 'The field name in the body must not be empty.'],
  ['/v1/tokens', { name: 7 }, 'The field name in the body must be text.'],
  [
    '/v1/tokens',
    { name: 'x', expires_at: '2020-01-01' },
    'The field expires_at in the body must be an RFC 3339 time with an offset',
  ],
  ['/v1/sites/x/uploads', { max_files: 0 }, 'The field max_files in the body must be a whole number from 1 to 1000.'],
  ['/v1/sites/x/uploads', { max_files: 1.5 }, 'The field max_files in the body must be a whole number from 1 to 1000.'],
  ['/v1/sites/x/publish', { scope: 'all' }, 'The field scope in the body must be one of: site, posts.'],
  ['/v1/sketches', { title: 'x', directions: [] }, 'The field directions in the body must not be empty.'],
  ['/v1/deployments/x/manifest', { files: [{}] }, 'The field files.0.path is required in the body.'],
])('an unusable field of %s is named in plain words: %o', async (path, body, words) => {
  expect(errorOf(await owner.call('POST', path, { body })).message).toContain(words);
});

test.each([
  ['broken JSON', '{"name":', {}],
  ['an array', '[]', {}],
  ['a string', '"name"', {}],
  ['null', 'null', {}],
  ['form data', 'name=a&title=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['text/plain', '{"name":"abc","title":"b"}', { 'content-type': 'text/plain' }],
  ['an invalid content type', '{"name":"abc","title":"b"}', { 'content-type': ';;' }],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}],
  ['compressed bytes', Buffer.from([0x1f, 0x8b, 8, 0, 0]), { 'content-encoding': 'gzip' }],
  ['a prototype', '{"name":"abc","title":"b","__proto__":{"template":"blog"}}', {}],
  ['a constructor', '{"name":"abc","title":"b","constructor":{"prototype":{"template":"blog"}}}', {}],
  ['a NUL', '{"name":"abc","title":"a\\u0000b"}', {}],
  ['a NUL in a field name', '{"name":"abc","title":"ab","\\u0000":1}', {}],
  ['an unpaired surrogate', '{"name":"abc","title":"a\\ud800"}', {}],
  ['a field that the call does not know', '{"name":"abc","title":"b","colour":"red"}', {}],
  ['arrays in arrays', `{"name":"abc","title":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, {}],
])('a body of %s is invalid_json', async (_what, raw, headers) => {
  const answer = await owner.call('POST', '/v1/sites', { raw, headers: headers as Record<string, string> });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_json']);
});

test('the error names an unknown field', async () => {
  const answer = await owner.call('POST', '/v1/sites', { body: { name: 'abc', title: 'b', colour: 'red' } });
  expect(errorOf(answer).message).toContain('"colour"');
});

test.each([
  ['POST', '/v1/sites', { title: 'A' }, 'invalid_name'],
  ['POST', '/v1/sites', { name: 7, title: 'A' }, 'invalid_name'],
  ['POST', '/v1/sites', { name: 'good-name' }, 'invalid_title'],
  ['POST', '/v1/sites', { name: 'good-name', title: '   ' }, 'invalid_title'],
  ['POST', '/v1/sites', { name: 'good-name', title: 'x'.repeat(121) }, 'invalid_title'],
  ['POST', '/v1/sites', { name: 'good-name', title: 'A', template: 3 }, 'invalid_template'],
  ['POST', '/v1/sites', { name: 'good-name', title: 'A', template: 'none-such' }, 'invalid_template'],
  ['POST', '/v1/tokens', {}, 'invalid_name'],
  ['POST', '/v1/tokens', { name: 'a', expires_at: 'tomorrow' }, 'invalid_expiry'],
])('%s %s with %j is %s', async (method, path, body, code) => {
  const answer = await owner.call(method, path, { body });
  expect([answer.status, errorOf(answer).code]).toEqual([400, code]);
});

test.each([
  ['/v1/sites?limit=0', 'invalid_limit'],
  ['/v1/sites?limit=201', 'invalid_limit'],
  ['/v1/sites?limit=ten', 'invalid_limit'],
  ['/v1/sites?limit=1&limit=2', 'invalid_limit'],
  ['/v1/sites?limit=', 'invalid_limit'],
  ['/v1/sites?cursor=nonsense', 'invalid_cursor'],
  ['/v1/sites?cursor=', 'invalid_cursor'],
  ['/v1/sites?cursor=%00', 'invalid_input'],
  ['/v1/sites?colour=red', 'invalid_input'],
  ['/v1/account?anything=1', 'invalid_input'],
  ['/v1/sites/%00', 'invalid_input'],
  ['/v1/sites/%ff', 'invalid_input'],
])('GET %s is %s', async (path, code) => {
  const answer = await owner.call('GET', path);
  expect([answer.status, errorOf(answer).code]).toEqual([400, code]);
});

test('a call without input accepts no body or an empty object', async () => {
  const { id } = await createSite(owner);
  expect((await owner.call('POST', `/v1/sites/${id}/archive`)).status).toBe(200);
  expect((await owner.call('POST', `/v1/sites/${id}/archive`, { raw: '' })).status).toBe(200);
  expect((await owner.call('POST', `/v1/sites/${id}/archive`, { body: {} })).status).toBe(200);
  const answer = await owner.call('POST', `/v1/sites/${id}/archive`, { body: { really: true } });
  expect(errorOf(answer).code).toBe('invalid_json');
});

test('a client that disconnects within its body causes no unexpected failure', async () => {
  const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1');
  const closed = new Promise((resolve) => {
    fixture.app.server.once('request', (request) => {
      // Its body is being read.
      request.once('resume', () => socket.destroy());
      request.once('close', resolve);
    });
  });
  const head = `POST /v1/sites HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.token}`;
  socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{`);
  await closed;
  // By then its error is handled.
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
  expect(fixture.takeUnexpected()).toEqual([]);
});

test('an unexpected failure is internal with its request id; its message is only logged', async () => {
  const broken = await createFixture({ FRONTAGE_REPOSITORIES: '/dev/null/nowhere' });
  try {
    const caller = await broken.newCaller();
    const answer = await caller.call('POST', '/v1/sites', { body: { name: 'a-name', title: 'A' } });
    const error = errorOf(answer);
    expect([answer.status, error.code, error.retryable]).toEqual([500, 'internal', true]);
    expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    expect(answer.text).not.toMatch(/dev|null|ENOTDIR|mkdir/);
    expect(broken.takeUnexpected().map(({ err }) => err?.stack)).toEqual([expect.stringContaining('ENOTDIR')]);
  } finally {
    await broken.close();
  }
});

test('a response opened in a browser is nothing but data', async () => {
  const { headers } = await owner.call('GET', '/v1/account');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
});

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a header of 40 KB', `GET /v1/sites HTTP/1.1\r\nhost: a\r\nx-large: ${'x'.repeat(40_000)}\r\n\r\n`],
  ['two lengths', 'POST /v1/sites HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}'],
  ['a length and chunks', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}'],
])('a request of %s gets the one-key body, and its connection is closed', async (_what, bytes) => {
  const [head = '', body = ''] = (await sendRaw(bytes)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).toMatch(/^connection: close\r$/im);
  expect(head).toMatch(/^x-request-id: req_[0-9a-f]{24}\r$/im);
  expect(JSON.parse(body).error.code).toBe('invalid_input');
});

test('GET /errors prints the catalog without a token', async () => {
  const { status, body } = await anyone('GET', '/errors');
  expect(status).toBe(200);
  const rows = Object.entries(catalog).map(([code, { remedy: _remedy, ...row }]) => [code, row]);
  expect(body.errors).toEqual(Object.fromEntries(rows));
});
