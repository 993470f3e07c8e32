import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { type CommentFixture, createCommentFixture } from './fixture.ts';

let fixture: CommentFixture;
beforeAll(async () => {
  fixture = await createCommentFixture();
});
afterAll(() => fixture?.close());

const text = (bytes: Buffer) => bytes.toString('base64');

test.each([
  ['image/png', sample.png],
  ['image/jpeg', sample.jpg],
  ['image/webp', sample.webp],
])('a picture that is %s by its bytes is stored and read back', async (type, bytes) => {
  const owner = await fixture.newOwner();
  const { body } = await owner.open('See?', { screenshot_base64: text(bytes) });
  expect(body.screenshot).toEqual({ url: `${fixture.config.baseUrl}/v1/comments/${body.id}/screenshot` });
  const answer = await fetch(`${fixture.url}/v1/comments/${body.id}/screenshot`, {
    headers: { authorization: `Bearer ${owner.token}` },
  });
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  expect(answer.headers.get('content-type')).toBe(type);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
});

test('a thread without a picture has the reason, and its picture is not found', async () => {
  const owner = await fixture.newOwner();
  const { body } = await owner.open();
  expect(body.screenshot).toEqual({ missing: 'No screenshot was sent with the comment.' });
  const answer = await owner.call('GET', `/v1/comments/${body.id}/screenshot`);
  expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
  expect(errorOf(answer).message).toContain('No screenshot was sent with the comment.');
});

const appended = Buffer.concat([sample.png, Buffer.from('<script>alert(1)</script>')]);
test.each([
  ['no base64', 'not base64 at all!'],
  ['base64 of the address kind', text(Buffer.from([255, 239, 191])).replaceAll('/', '_')],
  ['a data URL', `data:image/png;base64,${text(sample.png)}`],
  ['a page', text(Buffer.from(sample.html))],
  ['an SVG', text(Buffer.from(sample.svg()))],
  ['a GIF', text(sample.gif)],
  ['a PDF', text(sample.pdf)],
  ['a program', text(sample.exe)],
  ['a truncated PNG', text(sample.png.subarray(0, 40))],
  ['a PNG followed by a page', text(appended)],
  ['a PNG larger than any screen', text(sample.pngOf(100_000, 100_000))],
])('%s is invalid_file, and creates no thread', async (_what, screenshot_base64) => {
  const owner = await fixture.newOwner();
  const answer = await owner.open('See?', { screenshot_base64 });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_file']);
  expect((await owner.list()).body.items).toEqual([]);
});

test('a picture that exceeds the body limit is body_too_large', async () => {
  const owner = await fixture.newOwner();
  const answer = await owner.open('See?', { screenshot_base64: 'A'.repeat(1_048_576) });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'body_too_large']);
});

test('without storage a picture is no_storage, and text alone is accepted', async () => {
  const bare = await createCommentFixture({ FRONTAGE_FILES: 'off' });
  try {
    const owner = await bare.newOwner();
    const answer = await owner.open('See?', { screenshot_base64: text(sample.png) });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'no_storage']);
    expect((await owner.open('See?')).status).toBe(200);
  } finally {
    await bare.close();
  }
});

test('a picture whose bytes are lost is missing_asset', async () => {
  const owner = await fixture.newOwner();
  const { body } = await owner.open('See?', { screenshot_base64: text(await readFile(photo)) });
  await fixture.deps
    .em()
    .execute('update comment_thread set picture_sha256 = ? where id = ?', ['0'.repeat(64), body.id]);
  const answer = await owner.call('GET', `/v1/comments/${body.id}/screenshot`);
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'missing_asset']);
});

const photo = new URL('../../providers/photos/offline/coffee.jpg', import.meta.url);
