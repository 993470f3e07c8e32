/** Common steps of the acceptance tests of publishing. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { useStack } from '#test/stack/stack.ts';

const stack = useStack();

let count = 0;
/** A site from a template, or one of a single page, which builds in half the time. */
export async function newSite(template: string | null = null) {
  const name = `story-${process.pid}-${++count}`;
  const { body } = await stack.api('/v1/sites', { method: 'POST', body: { name, title: 'A story', template } });
  if (template === null) await change(body, 'src/pages/index.astro', page('A story'));
  return body as { id: string; name: string; git: { source: string; content: string } };
}

export async function post(path: string, body: unknown = {}, headers: Record<string, string> = { prefer: 'wait=50' }) {
  return await stack.api(path, { method: 'POST', body, headers });
}

export async function clone(
  site: { id: string },
  repository: 'source' | 'content',
  token?: string,
): Promise<(...args: string[]) => Promise<string>> {
  const { body } = await stack.api(`/v1/sites/${site.id}/git-credentials`, {
    method: 'POST',
    body: { repository, access: 'write' },
    ...(token ? { token } : {}),
  });
  const url = new URL(body.url);
  url.username = body.username;
  url.password = body.password;
  const folder = await mkdtemp(join(tmpdir(), 'frontage-story-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const git = async (...args: string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...identity, ...args]);
    return stdout;
  };
  await git('clone', '-q', url.href, '.');
  return git;
}

export async function change(site: { id: string }, path: string, text: string | null) {
  const changes = [text === null ? { path, delete: true } : { path, text }];
  const answer = await post(`/v1/sites/${site.id}/commits`, { message: `Change ${path}`, changes });
  expect(answer.status).toBe(200);
}

export async function publish(site: { id: string }, scope: 'site' | 'posts' = 'site') {
  return await post(`/v1/sites/${site.id}/publish`, { scope });
}

// Edges that start, beside others that do, on a machine that is full of them, are given more.
const timeoutMs = process.env.FRONTAGE_RESTARTS ? 30_000 : 2_000;

/** For builds that were asked for and that nobody waits for in a call; a worker that is restarted begins its build anew. */
export const buildPatience = process.env.FRONTAGE_RESTARTS ? 300_000 : 60_000;

/** The same of a status, which the front page has. */
export async function expectStatus(site: { name: string }, status: number) {
  await expect
    .poll(async () => (await stack.visit(site.name, '/')).status, { timeout: timeoutMs, interval: 20 })
    .toBe(status);
}

/** Every edge serves what is live within a second. */
export async function expectPage(site: { name: string }, path: string, words: string) {
  await expect
    .poll(async () => (await stack.visit(site.name, path)).text, { timeout: timeoutMs, interval: 20 })
    .toContain(words);
}

export const page = (words: string) =>
  `<html lang="en"><head><title>${words}</title></head><body><h1>${words}</h1></body></html>\n`;
