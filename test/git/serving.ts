/** The sites of a platform under other limits, and the end of their git processes. */
import Fastify from 'fastify';
import { expect, vi } from 'vitest';
import { type GitOptions, gitRoutes } from '#git/http.ts';
import type { Platform } from './platform.ts';
import { gitProcesses } from './state.ts';

/** Serves the platform's sites under these limits, at an address of their own. */
export async function serveWith(platform: Platform, options: GitOptions) {
  const app = Fastify();
  gitRoutes(app, platform.deps, options);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    address: async (siteId: string) =>
      (await platform.address(siteId, { seconds: 86_400 })).replace(/@[^/]+/, `@${new URL(url).host}`),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Resolves when no git process of the site runs. */
export async function untilIdle(platform: Platform, siteId: string): Promise<void> {
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]), { timeout: 20_000 });
}
