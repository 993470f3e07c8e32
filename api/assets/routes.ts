import { Readable } from 'node:stream';
import { z } from 'zod';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { encodedName } from '#api/attachment-name.ts';
import { limitConcurrency } from '#api/concurrency.ts';
import { byId, listOf, page, pageQuery } from '#api/pagination.ts';
import { fileOf, readFiles } from '#api/plugins/file-body.ts';
import { idParams } from '#api/schemas.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import type { Deps } from '#runtime/deps.ts';
import { assetsOf, bytesOfBlob, evaluateRead, putAsset, readAsset } from './rules.ts';
import { assetParams, assetSchema, assetView } from './schemas.ts';

/** Single files of a site: list, read, write. */
export function assetRoutes(app: Api, deps: Deps): void {
  const reads = limitConcurrency('assetReads');
  const writes = limitConcurrency('assetWrites');

  app.get(
    '/v1/sites/:id/assets',
    {
      config: { operation: 'asset.list', needs: 'read', capability: 'repositories' },
      schema: {
        summary: 'List the files that were added without git',
        description: 'Lists only files that are still in the source and have not changed since they were added.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(assetSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const read = await assetsOf(em, deps, site);
      const { rows, next_cursor } = await page(deps.config.secret, ['assets', site.id], query, read, byId);
      return { items: rows.map(assetView), next_cursor };
    },
  );

  app.get(
    '/v1/sites/:id/assets/*',
    {
      // The hash in the header is that of all bytes, so a HEAD would read the whole file.
      exposeHeadRoute: false,
      config: { operation: 'asset.read', needs: 'read', capability: 'repositories', answers: ['*/*'] },
      schema: {
        summary: 'Read a file',
        description:
          'Returns the file’s contents. The `etag` header is its SHA-256 hash; send it as `If-Match` in a later write, or as `If-None-Match` in a later read. With `Range: bytes=…`, the response is a part of the file. An account can read 8 files at a time.',
        params: assetParams,
        response: {
          200: z.any().describe('The file.'),
          206: z.any().describe('The part of the file that `Range` names.'),
          304: z.void().describe('The file is still the one that `If-None-Match` names.'),
        },
      },
    },
    async ({ em, actor, params, headers }, reply) =>
      await reads(actor.accountId, reply, async () => {
        const file = await readAsset(em, deps, actor, params.id, params['*']);
        const name = file.path.split('/').at(-1) ?? '';
        reply.headers({ etag: `"${file.sha256}"`, 'accept-ranges': 'bytes' });
        const { status, part } = evaluateRead(file, {
          ifMatch: headers['if-match'],
          ifNoneMatch: headers['if-none-match'],
          range: headers.range,
          ifRange: headers['if-range'] as string | undefined,
        });
        if (status === 304) return reply.code(304).send();
        if (part) reply.header('content-range', `bytes ${part.start}-${part.end}/${file.bytes}`);
        return reply
          .code(status)
          .headers({
            'content-type': contentTypeOf(file.path),
            'content-length': part ? part.end - part.start + 1 : file.bytes,
            // A site's file is untrusted: on our host it must not run, nor render as a page.
            'content-security-policy': "sandbox; default-src 'none'",
            'content-disposition': `attachment; ${encodedName(name)}`,
          })
          .send(Readable.from(bytesOfBlob(deps, params.id, file.oid, part), { objectMode: false }));
      }),
  );

  app.register(async function files(scope: Api) {
    readFiles(scope);
    scope.put(
      '/v1/sites/:id/assets/*',
      {
        config: { operation: 'asset.write', needs: 'write', capability: 'files', rawBody: true },
        schema: {
          summary: 'Write a file',
          description:
            'The body is the file; its type is detected from its contents. A JPEG, PNG, WebP or AVIF is stored without location and camera data; its pixels and orientation do not change. Creates one commit. To avoid overwriting another change, set `If-Match` to the SHA-256 hash of the file to replace: if the file has changed since, the call returns `stale_hash`. An account can write 16 files at a time.',
          params: assetParams,
          response: { 200: assetSchema },
        },
      },
      async (request, reply) => {
        const { em, actor, params, headers } = request;
        const file = { path: params['*'], body: fileOf(request), expected: headers['if-match'] };
        return assetView(await writes(actor.accountId, reply, () => putAsset(em, deps, actor, params.id, file)));
      },
    );
  });
}
