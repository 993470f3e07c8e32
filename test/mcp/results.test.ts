import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { type Agent, connect } from './fixture.ts';

const fixture = await createFixture(challengeEnv);
const owner = await fixture.newCaller();
let agent: Agent;
let site: { id: string; name: string };
beforeAll(async () => {
  agent = await connect(fixture.url, owner.token);
  await agent.tools();
  site = await createSite(owner, { template: 'blank' });
});
afterAll(async () => {
  await agent?.close();
  await fixture.close();
});

/** Git takes more kinds of files than the calls do. */
async function pushed(path: string, text: string): Promise<void> {
  const { repositories } = fixture.deps;
  const parent = (await repositories?.head(site.id, 'source')) ?? null;
  const author = { name: 'Ada', email: 'ada@example.com' };
  const changes = [{ path, bytes: Buffer.from(text) }];
  const commit = { branch: 'main', parent, message: 'Write', author, at: fixture.clock.now(), changes };
  expect(await repositories?.commit(site.id, 'source', commit)).toBeTruthy();
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

test('a result is text once, without line breaks', async () => {
  const { structuredContent, content, body } = await agent.call('site_read', { id: site.id });
  expect([structuredContent, content.length, body.name]).toEqual([undefined, 1, site.name]);
  expect((content as unknown as [{ text: string }])[0].text).not.toContain('\n');
});

test('a site’s name is taken where its id is', async () => {
  expect((await agent.call('site_read', { id: site.name })).body.id).toBe(site.id);
  expect((await agent.call('preview_list', { id: site.name })).body.items.length).toBeGreaterThan(0);
  const other = await fixture.newCaller();
  const theirs = await createSite(other, { template: 'blank' });
  expect((await agent.call('site_read', { id: theirs.name })).error).toMatchObject({
    code: 'not_found',
    message: `There is no site called ${theirs.name} that this connection can reach.`,
  });
});

test('an error is one of the catalog, with its remedy', async () => {
  const missing = await agent.call('site_read', { id: 'site_00000000000000000000000000' });
  expect([missing.isError, missing.structuredContent, missing.error]).toEqual([
    true,
    undefined,
    {
      code: 'not_found',
      message: expect.any(String),
      retryable: false,
      next_action: 'Call `site_list {}` to list the accessible sites.',
    },
  ]);
  expect((await agent.call('site_update', { id: site.id })).error.code).toBe('nothing_to_update');
  expect((await agent.call('site_list', { limit: 900 })).error.code).toBe('invalid_limit');
  expect((await agent.call('site_create', { name: 1, title: 'x' })).error.code).toBe('invalid_name');
  const stranger = await connect(fixture.url, (await fixture.newCaller()).token);
  expect((await stranger.call('site_read', { id: site.id })).error.code).toBe('not_found');
  await stranger.close();
});

test('no input of a tool reaches another call', async () => {
  for (const id of ['../tokens', '..%2ftokens', 'a/../b', 'x?y=1#z'])
    expect([id, (await agent.call('site_read', { id })).error?.code]).toEqual([id, 'not_found']);
  for (const id of ['..', '.', '', {}, [], null, true])
    expect([id, (await agent.call('site_read', { id })).error?.code]).toEqual([id, 'invalid_input']);
  for (const path of ['../../../account', 'a/./b', 'a//b', '/'])
    expect([path, (await agent.call('skill_read', { path })).error?.code]).toEqual([path, 'invalid_input']);
  expect((await agent.call('site_read', {})).error.message).toContain(
    'The input id is missing: it must be the id of a site',
  );
  expect((await agent.call('site_read', { id: site.id, nonsense: 1 })).error.message).toContain('"nonsense"');
  expect((await agent.call('site_publish', { id: site.id, wait_seconds: '1\r\nx: y' })).error.code).toBe(
    'invalid_input',
  );
  const split = { name: 'split', title: 'x', idempotency_key: 'a\r\nx-injected: 1' };
  expect((await agent.call('site_create', split)).error.code).toBe('invalid_input');
});

test('one key creates one resource', async () => {
  const input = { name: `twice-${process.pid}`, title: 'Twice', idempotency_key: 'of-the-test' };
  const [first, again] = [await agent.call('site_create', input), await agent.call('site_create', input)];
  expect([again.body.id, again.isError]).toEqual([first.body.id, undefined]);
  expect((await agent.call('site_create', { ...input, title: 'Other' })).error.code).toBe('idempotency_mismatch');
});

test('files are sent and received: pictures as pictures, text as text, others as bytes', async () => {
  const put = (path: string, more: object) => agent.call('asset_write', { id: site.id, path, ...more });
  expect((await put('src/assets/dot.png', { base64: pixel })).body).toMatchObject({ content_type: 'image/png' });
  expect((await put('public/a.pdf', { text: '%PDF-1.7\n%%EOF\n' })).body.bytes).toBe(15);
  expect((await put('public/a.pdf', {})).error.code).toBe('invalid_input');
  expect((await put('public/a.pdf', { base64: '!' })).error.code).toBe('invalid_input');
  const read = async (path: string) => (await agent.call('asset_read', { id: site.id, path })).content;
  expect(await read('src/assets/dot.png')).toEqual([{ type: 'image', mimeType: 'image/png', data: pixel }]);
  const uri = `frontage:/v1/sites/${site.id}/assets/public/a.pdf`;
  const blob = Buffer.from('%PDF-1.7\n%%EOF\n').toString('base64');
  expect(await read('public/a.pdf')).toEqual([
    { type: 'resource', resource: { uri, mimeType: 'application/pdf', blob } },
  ]);
  const large = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(1_200_000, 0x20), Buffer.from('\n%%EOF\n')]);
  const sent = await owner.call('PUT', `/v1/sites/${site.id}/assets/public/large.pdf`, {
    raw: large,
    headers: { 'content-type': 'application/pdf' },
  });
  expect(sent.status).toBe(200);
  const [told] = await read('public/large.pdf');
  expect(told).toMatchObject({ type: 'text', text: expect.stringContaining(`${large.length} bytes`) });
});

test('a page of a list that is too large is shortened, and continues there', async () => {
  const bodies = Array.from({ length: 60 }, (_, n) => `${n} ${'word '.repeat(780)}`.trim());
  const path = `/v1/sites/${site.id}/comments`;
  for (const body of bodies) expect((await owner.call('POST', path, { body: { page: '/', body } })).status).toBe(200);
  const read: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const { body, content } = await agent.call('comment_list', {
      id: site.id,
      limit: 200,
      ...(cursor ? { cursor } : {}),
    });
    expect(JSON.stringify(content).length).toBeLessThan(35_000);
    read.push(...body.items.map(({ messages }: { messages: [{ body: string }] }) => messages[0].body));
    cursor = body.next_cursor;
  }
  expect([pages > 5 && pages < 25, read.length]).toEqual([true, bodies.length]);
  expect(read.toReversed()).toEqual(bodies);
});

test('an owner’s comments are read, answered and resolved', async () => {
  const { id } = await createSite(owner, { template: 'blank' });
  await owner.call('POST', `/v1/sites/${id}/comments`, { body: { page: '/', body: 'Larger, please.' } });
  const [thread] = (await agent.call('comment_list', { id, status: 'open' })).body.items;
  expect(thread.messages[0].body).toBe('Larger, please.');
  expect((await agent.call('comment_reply', { id: thread.id, message: 'It is larger now.' })).error).toBe(undefined);
  const { body: settled } = await agent.call('comment_write', { id, thread_id: thread.id, action: 'resolve' });
  expect([settled.status, settled.messages.length]).toEqual(['resolved', 2]);
  expect((await agent.call('comment_list', { id, status: 'open' })).body.items).toEqual([]);
});

test('a long file of the source comes in parts, and pictures come as pictures', async () => {
  const text = `---\ntitle: Long\n---\n${'€ word '.repeat(6000)}`;
  const path = 'src/content/posts/long.md';
  expect((await agent.call('source_commit', { id: site.id, message: 'Long', changes: [{ path, text }] })).isError).toBe(
    undefined,
  );
  const parts: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { body } = await agent.call('source_files', { id: site.id, path, offset });
    expect(body.text.length).toBeLessThan(24_100);
    parts.push(body.text);
    offset = body.next_offset;
  }
  expect([parts.length > 1, parts.join('') === text]).toEqual([true, true]);
  const { content, body } = await agent.call('source_files', { id: site.id, path: 'src/assets/dot.png' });
  expect([body.base64, content[1]]).toEqual([undefined, { type: 'image', mimeType: 'image/png', data: pixel }]);
  const both = await agent.call('source_files', { id: site.name, path: [path, 'src/assets/dot.png'] });
  expect([both.body.items.length, both.body.items[0].next_offset, both.content[1]?.type]).toEqual([
    2,
    undefined,
    'image',
  ]);
});

test('an overlong text file comes in parts of whole characters', async () => {
  const whole = '€ is not 😀, nor é. '.repeat(16_000);
  await pushed('public/long.txt', whole);
  const parts: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { content } = await agent.call('asset_read', {
      id: site.id,
      path: 'public/long.txt',
      offset,
      limit: 100_000,
    });
    const [{ text }] = content as unknown as [{ text: string }];
    const cut = /\n\[Cut at byte (\d+) of (\d+)\. Call again with offset \1 for the rest\.\]$/.exec(text);
    expect(text.length).toBeLessThan(100_200);
    if (cut) expect(Number(cut[2])).toBe(Buffer.byteLength(whole));
    parts.push(cut ? text.slice(0, cut.index) : text);
    offset = cut ? Number(cut[1]) : undefined;
  }
  expect([parts.length, parts.join('') === whole]).toEqual([7, true]);
  const past = await agent.call('asset_read', { id: site.id, path: 'public/long.txt', offset: 10_000_000 });
  expect(past.content).toEqual([{ type: 'text', text: '' }]);
  for (const offset of [-1, 1.5, '5', 2 ** 60])
    expect((await agent.call('asset_read', { id: site.id, path: 'public/long.txt', offset })).error.code).toBe(
      'invalid_input',
    );
  // A picture has no middle to begin at.
  const picture = await agent.call('asset_read', { id: site.id, path: 'src/assets/dot.png', offset: 7 });
  expect(picture.content).toEqual([{ type: 'image', mimeType: 'image/png', data: pixel }]);
});

test('no more of a file is read than a result can hold', async () => {
  const bytes = 12 * 1024 * 1024;
  const file = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(bytes, 0x20), Buffer.from('\n%%EOF\n')]);
  const headers = { 'content-type': 'application/pdf' };
  expect((await owner.call('PUT', `/v1/sites/${site.id}/assets/public/huge.pdf`, { raw: file, headers })).status).toBe(
    200,
  );
  let read = 0;
  const { repositories } = fixture.deps;
  if (!repositories) throw new Error('the world has repositories');
  const { readBlobs } = repositories;
  repositories.readBlobs = async function* (...args) {
    for await (const blob of readBlobs.apply(repositories, args)) yield { ...blob, content: counted(blob.content) };
  };
  async function* counted(content: AsyncIterable<Buffer>) {
    for await (const chunk of content) {
      read += chunk.length;
      yield chunk;
    }
  }
  try {
    const before = fixture.logged.length;
    const [told] = (await agent.call('asset_read', { id: site.id, path: 'public/huge.pdf' })).content;
    expect(told).toMatchObject({ type: 'text', text: expect.stringContaining(`a file of ${file.length} bytes`) });
    // It is read once for its hash.
    expect(read - file.length).toBeLessThan(3 * 1024 * 1024);
    const ended = () => fixture.logged.slice(before).map((line) => (line as { operation?: string }).operation);
    await expect.poll(ended).toEqual(expect.arrayContaining(['asset.read', 'mcp.call']));
  } finally {
    repositories.readBlobs = readBlobs;
  }
});

test('submissions come as a page or as the text of a file', async () => {
  const fields = [{ name: 'a', label: 'A', kind: 'text' }];
  const { body: form } = await agent.call('form_create', { id: site.id, name: 'F', fields });
  expect((await agent.call('form_submissions', { id: form.id })).body.items).toEqual([]);
  const { content } = await agent.call('form_submissions', { id: form.id, format: 'csv' });
  expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('A') }]);
});
