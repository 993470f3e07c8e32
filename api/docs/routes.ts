/** `/docs`, `/openapi.json` and `/errors`. None requires a token. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { prefersHtml, varyByAccept } from '#api/front/representation.ts';
import { rendered, surfaceOf } from '#api/operations/next-steps.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import { unknownUrl } from '#api/plugins/errors.ts';
import { renderCalls, type Surface } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { catalog } from '#runtime/errors.ts';
import type { SkillTree } from '#skill/tree.ts';
import { type ApiDocument, type DocumentFile, openDocumentation, pictureAt } from './pages.ts';

/** What `GET /errors` returns: the catalog without the remedies, which the skill contains. */
const publicCatalog = Object.fromEntries(
  Object.entries(catalog).map(([code, { remedy: _remedy, ...row }]) => [code, row]),
);

export function documentationRoutes(scope: Api, { baseUrl }: Pick<Config, 'baseUrl'>, skill: SkillTree): void {
  const pageAt = openDocumentation(baseUrl, skill, () => readAs('http', scope) as ApiDocument);

  scope.get('/openapi.json', pageOptions('openapi.read'), async (request) => readAs(surfaceOf(request), scope));

  scope.get('/errors', pageOptions('errors.list'), async (request, reply) => {
    varyByAccept(reply);
    return prefersHtml(request) ? reply.redirect('/docs/errors', 303) : reply.send({ errors: publicCatalog });
  });

  scope.get('/docs/', pageOptions('docs.home'), async (_request, reply) => reply.redirect('/docs', 308));

  scope.get('/docs', pageOptions('docs.start'), async (request, reply) =>
    sendDocument(request, reply, pageAt('/docs')),
  );

  scope.get('/docs/*', pageOptions('docs.read'), async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const picture = pictureAt(path);
    if (picture) return reply.header('cache-control', 'public, max-age=86400').type('image/webp').send(picture);
    return sendDocument(request, reply, pageAt(path));
  });
}

/** The description of the API, whose texts name calls in the words of the reader. */
const readAs = (surface: Surface, scope: Api): unknown =>
  rendered(scope.swagger(), (text) => renderCalls(text, surface));

function sendDocument(request: FastifyRequest, reply: FastifyReply, file: DocumentFile | undefined): FastifyReply {
  if (!file) throw unknownUrl();
  reply.headers({ ...file.headers, etag: file.etag, vary: 'accept-encoding' });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.gzip);
}
