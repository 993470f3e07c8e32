/** An API and an edge with a site live on it, and the calls of whoever holds a review link. */
import { expect } from 'vitest';
import { siteAddress } from '#runtime/site-addresses.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { createFixture } from '#test/output/fixture.ts';
import { commentsOf } from './fixture.ts';

export const page = '<!doctype html><html><head><title>T</title></head><body><h1>Hello</h1></body></html>';
export const secretOf = (body: { url: string }) => body.url.split('/').at(-1) ?? '';

export async function createLinkFixture() {
  const fixture = await createFixture({
    FRONTAGE_EDGE_URL: 'http://sites.localhost',
    FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9',
  });

  async function newSite() {
    const owner = await fixture.newCaller();
    const site = await createSite(owner);
    await fixture.publish(site.id, owner.accountId, { 'index.html': page, 'a.css': 'b{}', '404.html': page });
    await expect.poll(async () => (await fixture.visit(site.name, '/')).text).toBe(page);
    return { ...owner, site, ...commentsOf(owner, site.id) };
  }

  const open = (secret: string) => fetch(`${fixture.url}/review/${secret}`, { redirect: 'manual' });

  const originOf = (label: string) => new URL(siteAddress(fixture.config, label)).origin;

  /** Requests the overlay's frame for a page of this origin. */
  async function frame(publicId: string, origin?: string) {
    const query = origin === undefined ? '' : `?${new URLSearchParams({ origin })}`;
    const answer = await fetch(`${fixture.url}/review/frame/${publicId}${query}`);
    return { answer, text: await answer.text(), policy: answer.headers.get('content-security-policy') ?? '' };
  }

  /** Calls as the overlay's frame does. */
  const asFrame = (secret: string) => {
    const call = callWith(fixture.url);
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

  return { ...fixture, newSite, open, originOf, frame, asFrame };
}
export type LinkFixture = Awaited<ReturnType<typeof createLinkFixture>>;
