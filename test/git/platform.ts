/** A whole API on a free port, with one account and its sites, for tests that speak git. */
import { rm } from 'node:fs/promises';
import { actorOf } from '#api/access.ts';
import { buildApp } from '#api/app.ts';
import { createCredential } from '#api/source/credentials.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { Limits } from '#rules/limit-names.ts';
import type { GitAccess, Repository } from '#rules/states.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps, type Deps } from '#runtime/deps.ts';
import { newId, newPublicId, newSecret } from '#runtime/ids.ts';
import { withLimits } from '#test/api/fixture.ts';
import { createTestDatabase, makeFolder } from '#test/stack/database.ts';

/** An error's body, or whatever else was answered. */
export type Answer = { error: { code: string; message: string; next_action?: string } } & Record<string, unknown>;

export type Platform = {
  url: string;
  deps: Deps;
  repositories: Repositories;
  accountId: string;
  token: string;
  /** Moves the platform's clock. */
  wait(milliseconds: number): void;
  /** A site with these files, and nothing in its content repository. */
  site(source?: Record<string, string | Buffer>): Promise<string>;
  /** An address of the repository with a user name and a password in it. */
  address(siteId: string, options?: { repository?: Repository; access?: GitAccess; seconds?: number }): Promise<string>;
  /** A call of the JSON API. */
  call<Body = Answer>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Body }>;
  close(): Promise<void>;
};

export async function startPlatform(limits: Partial<Limits> = {}): Promise<Platform> {
  const database = await createTestDatabase();
  const folder = await makeFolder('frontage-git-');
  const usual = readConfig({
    DATABASE_URL: database.url,
    FRONTAGE_DATA: folder,
    FRONTAGE_SECRET: 'a secret that signs the cursors of these tests',
    FRONTAGE_LOG_LEVEL: 'silent',
    FRONTAGE_RATE_SCALE: '1000',
  });
  let skippedMs = 0;
  const clock = { now: () => new Date(Date.UTC(2026, 10, 21) + skippedMs) };
  const config = withLimits(usual, limits);
  const deps = createDeps(config, { name: 'test', clock });
  const app = await buildApp(deps);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const repositories = deps.repositories as Repositories;
  const em = deps.em();
  const account = em.create(Account, {
    id: newId('acct'),
    name: 'Ada',
    email: 'ada@example.com',
    createdAt: clock.now(),
  });
  await em.flush();
  const { token: made, secret: token } = await issueToken(deps.em(), clock, account.id, { name: 'test' });
  return {
    url,
    deps,
    repositories,
    accountId: account.id,
    token,
    wait(milliseconds) {
      skippedMs += milliseconds;
    },
    async site(source = {}) {
      const id = newId('site');
      const files = new Map(Object.entries(source).map(([path, bytes]) => [path, Buffer.from(bytes as string)]));
      await repositories.create(id, { source: files, content: new Map() }, account, clock.now());
      const em = deps.em();
      em.create(Site, {
        id,
        account: em.getReference(Account, account.id),
        name: id.slice(-20),
        title: 'Test',
        template: 'blank',
        status: 'active',
        publicId: newPublicId(),
        createdAt: clock.now(),
      });
      await em.flush();
      return id;
    },
    async address(siteId, { repository = 'source', access = 'write', seconds = 3600 } = {}) {
      const password = newSecret('frg');
      const actor = actorOf(account.id, made.id);
      const input = { id: newId('cred'), password, repository, access, expiresInSeconds: seconds };
      const { username } = await createCredential(deps.em(), deps, actor, siteId, input);
      const path = `/git/${siteId}${repository === 'content' ? '.content' : ''}.git`;
      return url.replace('http://', `http://${username}:${password}@`) + path;
    },
    async call<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Body };
    },
    async close() {
      await app.close();
      await deps.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
