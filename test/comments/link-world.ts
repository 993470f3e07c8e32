/** An API and an edge with a site live on it, and the calls of whoever holds a review link. */
import { expect } from 'vitest';
import { callWith, createSite } from '#test/api/world.ts';
import { createWorld } from '#test/output/world.ts';
import { commentsOf } from './world.ts';

export const page = '<!doctype html><html><head><title>T</title></head><body><h1>Hello</h1></body></html>';
export const secretOf = (body: { url: string }) => body.url.split('/').at(-1) ?? '';

export async function createLinkWorld() {
  const world = await createWorld({
    FRONTAGE_EDGE_URL: 'http://sites.localhost',
    FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9',
  });

  async function newSite() {
    const owner = await world.newCaller();
    const site = await createSite(owner);
    await world.publish(site.id, owner.accountId, { 'index.html': page, 'a.css': 'b{}', '404.html': page });
    await expect.poll(async () => (await world.visit(site.name, '/')).text).toBe(page);
    return { ...owner, site, ...commentsOf(owner, site.id) };
  }

  const open = (secret: string) => fetch(`${world.url}/review/${secret}`, { redirect: 'manual' });

  /** Calls as the overlay's frame does. */
  const asFrame = (secret: string) => {
    const call = callWith(world.url);
    const headers = { 'x-review': secret };
    return {
      threads: () => call('GET', '/review/threads', { headers }),
      comment: (body: object, more: Record<string, string> = {}) =>
        call('POST', '/review/threads', {
          body: { page: '/', body: 'Larger', position: {}, ...body },
          headers: { ...headers, ...more },
        }),
      answer: (id: string, body: object) => call('POST', `/review/threads/${id}`, { body, headers }),
    };
  };

  return { ...world, newSite, open, asFrame };
}
export type LinkWorld = Awaited<ReturnType<typeof createLinkWorld>>;
