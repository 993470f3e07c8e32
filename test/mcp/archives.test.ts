/** Files, large and small, in both directions. */
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { evenShare } from '#api/mcp/results.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { tarOf, zipOf } from '#test/output/archives.ts';
import { connect } from './fixture.ts';

const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1' });
const owner = await fixture.newCaller();
const agent = await connect(fixture.url, owner.token);
await agent.tools();
const site = await createSite(owner, { template: 'blank' });
afterAll(async () => {
  await agent.close();
  await fixture.close();
});

test('an archive is sent with the type that its bytes have', async () => {
  const files = [{ name: 'index.html', content: '<!doctype html><title>T</title>' }];
  const tar = await tarOf(files);
  for (const archive of [tar, gzipSync(tar), zipOf(files)]) {
    const { id } = (await agent.call('deployment_create', { id: site.id })).body;
    const sent = await agent.call('deployment_send_archive', { id, base64: archive.toString('base64') });
    expect(sent.body.deployment).toMatchObject({ id, status: 'uploading' });
  }
  const { id } = (await agent.call('deployment_create', { id: site.id })).body;
  expect((await agent.call('deployment_send_archive', { id, text: 'no archive' })).error.code).toBe('invalid_file');
});

test('a file that is too large is an error with a remedy', async () => {
  const raw = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(150_000, 0x20), Buffer.from('\n%%EOF\n')]);
  const headers = { 'content-type': 'application/pdf' };
  const path = 'public/large.pdf';
  expect((await owner.call('PUT', `/v1/sites/${site.id}/assets/${path}`, { raw, headers })).status).toBe(200);
  const exported = await agent.call('site_export', { id: site.name });
  expect([exported.isError, exported.error.next_action]).toEqual([
    true,
    `Ask the owner to press “Download the site” on its Settings page: ${fixture.config.baseUrl}/account/sites/${site.id}/settings`,
  ]);
  // Nothing has left, so nothing is recorded.
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  expect(items.map(({ action }: { action: string }) => action)).not.toContain('site.exported');
  const { error } = await agent.call('asset_read', { id: site.id, path });
  expect(error.message).toContain(`a file of ${raw.length} bytes`);
  expect(error.next_action).toContain('git clone');
  expect(error.next_action).toContain('source_credential');
});

test('short files of a list are whole, a long one is cut', async () => {
  const paths = Array.from({ length: 20 }, (_, n) => `src/content/posts/list-${n}.md`);
  const changes = paths.map((path, n) => ({
    path,
    text: `---\ntitle: Post ${n}\n---\n${n === 7 ? 'long '.repeat(8000) : 'short '.repeat(n * 10)}`,
  }));
  const sent = await agent.call('source_commit', { id: site.id, message: 'Write', changes });
  expect(sent.error).toBe(undefined);
  const { items } = (await agent.call('source_files', { id: site.id, path: paths })).body;
  for (const [n, { text, rest, next_offset }] of items.entries()) {
    if (n !== 7) expect([n, text, rest]).toEqual([n, changes[n]?.text, undefined]);
    else expect([next_offset, rest]).toEqual([undefined, `Read this path alone from offset ${text.length}.`]);
  }
  expect(items[7].text.length).toBeGreaterThan(10_000);
});

test('what short files leave is for the long ones', () => {
  expect(evenShare([10, 500, 20, 500], 230)).toBe(100);
  expect(evenShare([10, 20], 230)).toBe(230);
  expect(evenShare([], 230)).toBe(230);
});

test('a long diff of what was sent is left out, beginning with unchanged lines', async () => {
  const commit = async (text: string) => {
    const changes = [{ path: 'src/content/posts/diff.md', text: `---\ntitle: Diff\n---\n${text}` }];
    return (await agent.call('source_commit', { id: site.id, message: 'Write', changes })).body;
  };
  expect((await commit('Short.')).diff).toContain('+Short.');
  const around = 'around '.repeat(180);
  await commit(`${around}\nOld.\n${around}\n`);
  const { diff } = await commit(`${around}\nNew.\n${around}\n`);
  expect(diff).toMatch(/\n-Old\.\n\+New\./);
  expect(diff).not.toContain('around');
  const long = await commit('word '.repeat(400));
  expect([long.files_changed, long.diff]).toEqual([1, expect.stringMatching(/^Left out.*source_files/)]);
});

test('the scope of a new token takes names of sites', async () => {
  const create = (sites: unknown) => agent.call('token_create', { name: 'One', scope: { sites } });
  expect((await create([site.name])).body.scope.sites).toEqual([site.id]);
  expect((await create([site.id])).body.scope.sites).toEqual([site.id]);
  expect((await create('all')).body.scope.sites).toBe('all');
  expect((await create([site.name, 'nobodys-site'])).error.message).toContain('nobodys-site');
});
