/** Preview slots with real builds and real pushes, over the wire alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useStack } from '#test/stack/stack.ts';
import { change, clone, expectPage, newSite, page, post, publish } from './story.ts';

const stack = useStack();

type Git = (...args: string[]) => Promise<string>;

/** Pushes files to a branch that begins at `main`. */
async function push(git: Git, branch: string, files: Record<string, string | Buffer>): Promise<void> {
  await git('switch', '-q', '-C', branch, 'origin/main');
  for (const [path, text] of Object.entries(files)) {
    const top = (await git('rev-parse', '--show-toplevel')).trim();
    await import('node:fs/promises').then(({ writeFile }) => writeFile(`${top}/${path}`, text));
  }
  await git('add', '.');
  await git('commit', '-qm', 'Work in a slot');
  await git('push', '-q', 'origin', branch);
}

const photo = readFileSync(join(import.meta.dirname, '../../providers/sandbox/image/rehearsal/src/photo.jpg'));
const words = 'The secret plans of the bakery';
const article = (title: string, text: string, draft = false) =>
  `---\ntitle: ${title}\ndescription: D\ndate: 2026-01-02\n${draft ? 'draft: true\n' : ''}---\n${text}\n`;

async function filesOf(id: string): Promise<Map<string, string>> {
  const { body } = await stack.api(`/v1/deployments/${id}/files?limit=200`);
  return new Map(body.items.map((file: { path: string; sha256: string }) => [file.path, file.sha256]));
}

test('a slot serves its work with drafts, and publishing serves its build without them', async () => {
  const site = await newSite('blog');
  expect((await publish(site)).body.status).toBe('live');
  await push(await clone(site, 'source'), 'preview/1', { 'src/pages/hello.astro': page('Hello from the slot') });
  await push(await clone(site, 'content'), 'preview/1', {
    'posts/plans.md': article('Plans', `${words}\n\n![Our oven](./oven.jpg)`, true),
    'posts/oven.jpg': photo,
    'posts/news.md': article('News', 'Fresh bread.'),
  });
  const { status, body: slot } = await post(`/v1/sites/${site.id}/previews/1`);
  expect({ status, slot }).toMatchObject({ status: 200, slot: { status: 'draft', holds_work: true, behind: false } });
  const label = new URL(slot.address).hostname.split('.')[0] as string;
  await expectPage({ name: label }, '/hello/', 'Hello from the slot');
  const drafts = await filesOf(slot.deployment_id);
  const plans = [...drafts.keys()].find((path) => path.includes('plans')) as string;
  await expectPage({ name: label }, `/${plans}`, words);
  const oven = [...drafts.keys()].filter((path) => path.includes('oven'));
  expect(oven).toHaveLength(1);
  // The second build has the pictures of the first, whose code the site's own builds do not have.
  const log = String((await stack.api(`/v1/deployments/${slot.deployment_id}/log`)).body);
  const [, first, second] = log.split(/^Building with.*$/m);
  expect(first).not.toContain('reused cache entry');
  expect(second).toContain('reused cache entry');
  expect((await stack.visit(label, '/hello/')).headers['x-robots-tag']).toContain('noindex');
  expect((await stack.visit(site.name, '/hello/')).status).toBe(404);

  const { body: live } = await post(`/v1/sites/${site.id}/previews/1/publish`);
  expect(live).toMatchObject({ status: 'live', kind: 'preview' });
  await expectPage(site, '/hello/', 'Hello from the slot');
  const files = await filesOf(live.id);
  expect(
    [...files].filter(([path, sha256]) => oven.includes(path) || sha256 === drafts.get(oven[0] as string)),
  ).toEqual([]);
  for (const path of files.keys()) {
    const { status: found, body: bytes } = await stack.visit(site.name, `/${path}`);
    expect([path, found, bytes.includes(words)]).toEqual([path, 200, false]);
  }
  // What a publish of the same commits builds is what the slot's build without drafts has made.
  const rebuilt = await post(`/v1/sites/${site.id}/publish`, {}, { prefer: 'wait=50', 'cache-control': 'no-cache' });
  expect(rebuilt.body).toMatchObject({ status: 'live', source_commit: live.source_commit });
  expect(rebuilt.body.id).not.toBe(live.id);
  expect(await filesOf(rebuilt.body.id)).toEqual(files);
  expect((await stack.api(`/v1/sites/${site.id}`)).body.has_unpublished_changes).toBe(false);
});

test('without a draft one build serves both, and publishing live work returns that deployment', async () => {
  const site = await newSite();
  await push(await clone(site, 'source'), 'preview/2', { 'src/pages/one.astro': page('One build') });
  const { body: slot } = await post(`/v1/sites/${site.id}/previews/2`);
  const { body: live } = await post(`/v1/sites/${site.id}/previews/2/publish`);
  expect(live.status).toBe('live');
  expect(await filesOf(live.id)).toEqual(await filesOf(slot.deployment_id));
  const log = (await stack.api(`/v1/deployments/${slot.deployment_id}/log`)).body as unknown as string;
  expect(String(log).match(/Built in/g)).toHaveLength(1);
  expect((await publish(site)).body.id).toBe(live.id);
});

test('a real merge updates an outdated slot, and a failed build says why', async () => {
  const site = await newSite();
  const git = await clone(site, 'source');
  await push(git, 'preview/1', { 'src/pages/ours.astro': page('Ours') });
  await post(`/v1/sites/${site.id}/previews/1`);
  await change(site, 'src/pages/theirs.astro', page('Theirs'));
  expect((await post(`/v1/sites/${site.id}/previews/1/publish`)).body.error.code).toBe('draft_behind');
  expect((await post(`/v1/sites/${site.id}/previews/1/update`)).body).toMatchObject({ status: 'draft', behind: false });
  await post(`/v1/sites/${site.id}/previews/1/publish`);
  await expectPage(site, '/ours/', 'Ours');
  await expectPage(site, '/theirs/', 'Theirs');

  await git('fetch', '-q', 'origin');
  await push(git, 'preview/2', { 'src/pages/broken.astro': '---\nthrow new Error("the roof leaks");\n---\n' });
  const failed = await post(`/v1/sites/${site.id}/previews/2`);
  expect([failed.status, failed.body.error.code]).toEqual([422, 'build_failed']);
  expect(failed.body.error.detail).toContain('the roof leaks');
});
