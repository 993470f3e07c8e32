/** The platform's scripts and styles for sites' pages. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageFile } from '#web/page-file.ts';

/** For a file whose URL contains its hash. */
export const forEver = 'public, max-age=31536000, immutable';

/** Any page may load the file: it is the same for every client and contains no personal data. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: PageFile, caching: string): FastifyReply {
  reply.headers({
    'cache-control': caching,
    etag: file.etag,
    vary: 'accept-encoding',
    'content-type': file.type,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.gzip);
}
