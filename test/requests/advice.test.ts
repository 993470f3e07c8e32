/** What refusals of unusable requests tell the caller to do. */
import { afterAll, expect, test } from 'vitest';
import { createFixture, errorOf } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

const json = /^Send `content-type: application\/json`/;
test.each([
  ['an unknown path', 'GET /v1/nothing', {}, /^Call GET \/openapi\.json/],
  ['an unsupported method', 'PUT /v1/tokens/anything', {}, /^Use one of these methods/],
  ['a malformed path', 'GET /v1/sites/%ff', {}, /^Percent-encode/],
  ['a NUL in the path', 'GET /v1/sites/%00', {}, /^Correct the value/],
  ['a path of 3,000 letters', `GET /v1/sites/${'x'.repeat(3000)}`, {}, /^Call GET \/openapi\.json/],
  ['a limit of 0', 'GET /v1/sites?limit=0', {}, /from 1 to 200/],
  ['an unknown parameter', 'GET /v1/account?anything=1', {}, /^Remove it, .*openapi/],
  ['two unknown fields', 'POST /v1/tokens', { body: { name: 'a', one: 1, two: 2 } }, /^Remove them, .*openapi/],
  ['no name', 'POST /v1/tokens', { body: {} }, /^Correct the value/],
  [
    'a scope of no sites',
    'POST /v1/tokens',
    { body: { name: 'a', scope: { sites: [] } } },
    /^Correct scope\.sites, .*openapi/,
  ],
  ['a number for a list', 'POST /v1/inbox/done', { body: { items: 1 } }, /^Correct items, .*openapi/],
  ['an array', 'POST /v1/sites', { raw: '[]' }, json],
  ['broken JSON', 'POST /v1/sites', { raw: '{' }, json],
  ['another content type', 'POST /v1/sites', { raw: 'a=b', headers: { 'content-type': 'text/plain' } }, json],
  ['a body that is not UTF-8', 'POST /v1/sites', { raw: Buffer.from([0x7b, 0xff]) }, json],
  ['a body over 1 MiB', 'POST /v1/sites', { raw: ' '.repeat(1_048_577) }, /^Split the data/],
  [
    'an empty key',
    'POST /v1/tokens',
    { body: { name: 'a' }, headers: { 'idempotency-key': ' ' } },
    /^Correct the value/,
  ],
])('the refusal of %s says what to do', async (_what, call, sent, advice) => {
  const [method = '', path = ''] = call.split(' ');
  expect(errorOf(await owner.call(method, path, sent)).next_action).toMatch(advice);
});
