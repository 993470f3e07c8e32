/** Bodies that are a file: handed on as they arrive, whatever type they call themselves. */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '../api.ts';

/** Add it to a scope of its own, whose routes have `rawBody` in their config. */
export function readFiles(scope: Api): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/** The body of such a call; empty where none was sent. */
export function fileOf(request: FastifyRequest): Readable {
  return request.body instanceof Readable ? request.body : Readable.from([]);
}
