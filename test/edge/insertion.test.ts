import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBlobCache } from '#edge/content/blob-cache.ts';
import { answerInserted, createSnippet, followedBy, insertIntoPage } from '#edge/content/insertion.ts';
import { servedFile } from '#edge/content/representations.ts';
import type { EdgeResponse } from '#edge/content/response.ts';
import { requestOf } from '#edge/http/request.ts';
import { createFixture, type Fixture } from './fixture.ts';

const snippet = createSnippet('<p>ours</p>');
const inserted = (page: string) => insertIntoPage(Buffer.from(page), snippet).toString();

describe('the snippet is inserted', () => {
  test.each([
    ['before the end of the body', '<body>a</body></html>', '<body>a<p>ours</p></body></html>'],
    ['in any spelling of that end', '<BODY>a</BODY >\n</HTML >\n', '<BODY>a<p>ours</p></BODY >\n</HTML >\n'],
    ['after a body end within a script', '<script>"</body>"</script>a', '<script>"</body>"</script>a<p>ours</p>'],
    ['at the end of an unclosed page', '<h1>a', '<h1>a<p>ours</p>'],
    ['at the end after a comment', 'a</body></html><!-- </body> -->', 'a</body></html><!-- </body> --><p>ours</p>'],
    ['in an empty page', '', '<p>ours</p>'],
    ['after multi-byte letters', 'ü€𝄞</body>', 'ü€𝄞<p>ours</p></body>'],
  ])('%s', (_, page, wanted) => expect(inserted(page)).toBe(wanted));
});

describe('a response with the snippet', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture();
  });
  afterAll(() => fixture?.close());

  async function answer(path: string, content: string, fields: string[] = [], status: 200 | 404 = 200) {
    const { sha256, bytes } = await fixture.store.put(Buffer.from(content), { compress: true });
    const source = { store: fixture.store, blobs: createBlobCache(fixture.store, 4 * 1024 * 1024) };
    const raw = ['host', 'a.test', ...fields];
    const request = requestOf({ method: 'GET', target: `/${path}`, servername: undefined }, raw);
    const served = servedFile({ path, sha256, bytes, encodings: ['br', 'gzip'] });
    return { sha256, ...seen(await answerInserted(source, request, served, snippet, status)) };
  }

  function seen({ head, body }: EdgeResponse) {
    const pairs = head.fields.flatMap((name, at) => (at % 2 ? [] : [[name, head.fields[at + 1]]]));
    return { status: head.status, fields: Object.fromEntries(pairs) as Record<string, string>, body };
  }

  test('is the whole page, uncompressed, with its length and its own tag', async () => {
    const { status, fields, body, sha256 } = await answer('index.html', 'a</body>', ['accept-encoding', 'br, gzip']);
    expect(status).toBe(200);
    expect(String(body)).toBe('a<p>ours</p></body>');
    expect(fields['content-length']).toBe(String('a<p>ours</p></body>'.length));
    expect(fields['content-encoding']).toBeUndefined();
    expect(fields.etag).toBe(`"${sha256}-${snippet.tag}"`);
    expect(fields['cache-control']).toBe('private, no-cache');
  });

  test('is 304 for its own tag, but not for the plain page’s tag', async () => {
    const { fields, sha256 } = await answer('index.html', 'b</body>');
    expect((await answer('index.html', 'b</body>', ['if-none-match', fields.etag as string])).status).toBe(304);
    expect((await answer('index.html', 'b</body>', ['if-none-match', `"${sha256}"`])).status).toBe(200);
    expect((await answer('index.html', 'b</body>', ['if-match', `"${sha256}"`])).status).toBe(412);
  });

  test('leaves other files unchanged, compressed and with their own tags', async () => {
    const { fields, sha256 } = await answer('a.css', 'body { margin: 0 }\n'.repeat(100), ['accept-encoding', 'gzip']);
    expect(fields.etag).toBe(`"${sha256}-gzip"`);
    expect(fields['content-encoding']).toBe('gzip');
  });

  test('closes its file when the client disconnects before the first byte', async () => {
    const content = new PassThrough();
    followedBy(content, snippet).destroy();
    await expect.poll(() => content.destroyed).toBe(true);
  });

  test('includes pages that exceed memory', async () => {
    const large = 'x'.repeat(1024 * 1024 + 1);
    const { fields, body } = await answer('large.html', large);
    if (!body || Buffer.isBuffer(body)) throw new Error('it was in memory');
    const chunks: Buffer[] = [];
    for await (const chunk of await body.open()) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    expect(text).toBe(`${large}<p>ours</p>`);
    expect(fields['content-length']).toBe(String(text.length));
  });

  test('is a 404 for a missing page, whatever tag the visitor has', async () => {
    const { status, body } = await answer('404.html', 'gone', ['if-none-match', '*'], 404);
    expect(status).toBe(404);
    expect(String(body)).toBe('gone<p>ours</p>');
  });
});
