/** Conditional and partial reads of single files. */
import { afterAll, expect, test } from 'vitest';
import * as sample from '#test/git/samples.ts';
import { createMaterial } from './fixture.ts';

const material = await createMaterial();
afterAll(() => material.close());

test('a file is read in parts, and not again while it is unchanged', async () => {
  const owner = await material.owner();
  const { body } = await material.put(owner, owner.siteId, 'src/assets/part.png', sample.png);
  const url = `${material.url}/v1/sites/${owner.siteId}/assets/src/assets/part.png`;
  const read = async (headers: Record<string, string>) => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${owner.token}`, ...headers } });
    return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const etag = `"${body.sha256}"`;
  const unchanged = await read({ 'if-none-match': `"x", W/${etag}` });
  expect([unchanged.status, unchanged.bytes.length, unchanged.headers.get('etag')]).toEqual([304, 0, etag]);
  const total = sample.png.length;
  for (const [range, start, end] of [
    ['bytes=0-3', 0, 4],
    ['bytes=4-', 4, total],
    ['bytes=-5', total - 5, total],
    [`bytes=8-${total + 100}`, 8, total],
  ] as const) {
    const part = await read({ range, 'if-range': etag });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${start}-${end - 1}/${total}`]);
    expect(part.bytes).toEqual(sample.png.subarray(start, end));
  }
  for (const headers of [{ range: 'bytes=0-1,3-4' }, { range: 'bytes=0-3', 'if-range': '"old"' }, { 'if-match': etag }])
    expect(await read(headers)).toMatchObject({ status: 200, bytes: sample.png });
  expect((await read({ range: `bytes=${total}-` })).status).toBe(416);
  expect((await read({ 'if-match': '"old"' })).status).toBe(409);
});
