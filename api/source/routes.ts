import type { z } from 'zod';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import { call } from '#rules/calls/calls.ts';
import type { Repository } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { requireRepositories, type Written } from './commits.ts';
import { createCredential, credentialsOf, loadCredential, revokeCredential } from './credentials.ts';
import { commitChanges } from './rules.ts';
import {
  commitInput,
  commitSchema,
  credentialInput,
  credentialSchema,
  credentialView,
  filesQuery,
  filesSchema,
  newCredentialSchema,
  revokedCredentialSchema,
} from './schemas.ts';
import { type Commits, listFolder, readFile, readFiles, readSiteTree, resolveRef } from './tree.ts';

/** Prefix of git passwords, so that secret scanners recognise a leaked one. */
const passwordPrefix = 'frg';

/** A site's source: git credentials, its files, and commits without git. */
export function sourceRoutes(app: Api, deps: Deps): void {
  credentialRoutes(app, deps);
  filesRoute(app, deps);
  commitRoute(app, deps);
}

function credentialRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  app.post(
    '/v1/sites/:id/git-credentials',
    {
      config: {
        operation: 'source.credential',
        needs: 'repository',
        capability: 'repositories',
        makes: 'cred',
        recordsOnce: true,
        showsSecret: true,
        replay: async (request, id) => ({
          ...credentialView(config, await loadCredential(request.em, deps, request.actor, id), request.actor),
          password: request.newSecret(passwordPrefix),
        }),
      },
      schema: {
        summary: 'Create a git user name and password',
        description:
          'The credentials give access to one repository over HTTP until they expire or are revoked. The password is shown only once.',
        params: idParams,
        body: credentialInput,
        response: { 200: newCredentialSchema },
      },
    },
    async (request) => {
      const { expires_in_seconds: expiresInSeconds, ...input } = request.body;
      const id = request.newId('cred');
      const password = request.newSecret(passwordPrefix);
      const wanted = { ...input, id, password, expiresInSeconds };
      const credential = await createCredential(request.em, deps, request.actor, request.params.id, wanted);
      return { ...credentialView(config, credential, request.actor), password };
    },
  );

  app.get(
    '/v1/sites/:id/git-credentials',
    {
      config: { operation: 'source.credentials', needs: 'read', capability: 'repositories' },
      schema: {
        summary: 'List a site’s git credentials',
        description: 'The owner sees all that can be used, others those that their account created.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(credentialSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const list = ['git-credentials', site.id, actor.accountId];
      const read = newestFirst(em, GitCredential, credentialsOf(site, actor, clock.now()));
      const { rows, next_cursor } = await page(config.secret, list, query, read, byId);
      return { items: rows.map((one) => credentialView(config, one, actor)), next_cursor };
    },
  );

  app.delete(
    '/v1/git-credentials/:id',
    {
      config: { operation: 'source.revoke_credential', needs: 'write', capability: 'repositories' },
      schema: {
        summary: 'Revoke a git user name and password',
        description:
          'Takes effect at once: a push that is still being received or checked is refused. The owner of the site can revoke all, others those that their account created.',
        params: idParams,
        response: { 200: revokedCredentialSchema },
      },
    },
    async ({ em, actor, params }) => {
      const revoked = await revokeCredential(em, deps, actor, params.id);
      return { ...credentialView(config, revoked, actor), revoked_at: clock.now() };
    },
  );
}

function filesRoute(app: Api, deps: Deps): void {
  app.get(
    '/v1/sites/:id/files',
    {
      config: { operation: 'source.files', needs: 'read', capability: 'repositories' },
      schema: {
        summary: 'List a folder or read a file',
        description:
          'Reads the tree from which the site is built: the source repository with the content repository at `src/content/`.',
        params: idParams,
        querystring: filesQuery,
        response: { 200: filesSchema },
      },
    },
    async ({ em, actor, params, query }) => {
      const repositories = requireRepositories(deps);
      const site = await loadSite(em, actor, params.id);
      const commits = await resolveRef(em, repositories, site, query.ref);
      const files = await readSiteTree(repositories, site.id, commits);
      if (Array.isArray(query.path)) {
        return {
          kind: 'files' as const,
          items: await readFiles(repositories, site.id, { files, commits, paths: query.path }),
        };
      }
      const path = query.path.replace(/\/+$/, '');
      const file = files.find((one) => one.path === path);
      if (file) {
        const { repository, bytes } = file;
        const commit = commits[repository] ?? '';
        const content = await readFile(repositories, site.id, file);
        return { path, kind: 'file' as const, bytes, repository, commit, ...content };
      }
      const items = listFolder(files, path, query.recursive === 'true');
      if (items.length === 0 && path !== '') throw noSuchPath();
      return await folderAnswer(path, items, commits, { ...query, list: ['files', site.id, query.ref] });
    },
  );

  async function folderAnswer(
    path: string,
    items: ReturnType<typeof listFolder>,
    commits: Commits,
    query: { list: string[]; limit: number; cursor?: string | undefined; recursive: string },
  ) {
    const { rows, next_cursor } = await page(
      deps.config.secret,
      [...query.list, path, query.recursive],
      query,
      (after, limit) => items.filter((item) => after === undefined || item.path > after).slice(0, limit),
      (item) => item.path,
    );
    return { path, kind: 'folder' as const, commits, items: rows, next_cursor };
  }
}

function noSuchPath() {
  return errors.not_found('The site has no file or folder at this path.', {
    nextAction: `Call ${call('source.files')} without a path to list the existing files.`,
  });
}

function commitRoute(app: Api, deps: Deps): void {
  app.post(
    '/v1/sites/:id/commits',
    {
      config: {
        operation: 'source.commit',
        needs: 'write',
        capability: 'repositories',
        replay: async ({ em, actor, params }, made) => {
          const site = await loadSite(em, actor, (params as z.output<typeof idParams>).id);
          return await commitView(deps, site.id, parseMade(made));
        },
      },
      schema: {
        summary: 'Commit files without git',
        description:
          'Adds, changes and removes files in one commit on `main` or a preview’s branch. The same rules apply as for pushes. Photos (JPEG, PNG, WebP, AVIF) are stored without location and camera data.',
        params: idParams,
        body: commitInput,
        response: { 200: commitSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body, attempt } = request;
      const keyed = attempt ? { id: attempt.reservedId, isResumed: attempt.state === 'resumed' } : undefined;
      const committed = await commitChanges(em, deps, actor, params.id, { ...body, keyed });
      const { branch } = body;
      request.answeredId = [committed.repository, committed.commit, committed.filesChanged, branch].join(':');
      return await commitView(deps, params.id, { ...committed, branch });
    },
  );
}

const diffMax = 4000;

type Committed = Omit<Written, 'changes'> & { branch: string };

/** A commit has no id of our own: an Idempotency-Key stores all four parts. */
function parseMade(made: string): Committed {
  const [repository, commit = '', filesChanged, branch = 'main'] = made.split(':');
  return { repository: repository as Repository, commit, filesChanged: Number(filesChanged), branch };
}

async function commitView(deps: Deps, siteId: string, { repository, commit, filesChanged, branch }: Committed) {
  const repositories = requireRepositories(deps);
  const [line] = await repositories.commits(siteId, repository, { from: null, to: commit, limit: 1 });
  return {
    commit,
    repository,
    branch,
    subject: line?.subject ?? '',
    author: line?.author ?? '',
    files_changed: filesChanged,
    committed_at: line?.at ?? deps.clock.now(),
    diff: filesChanged === 0 ? '' : await repositories.diff(siteId, repository, commit, diffMax),
  };
}
