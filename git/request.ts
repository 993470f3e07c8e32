/** What a request to a repository asks for: its service, its protocol and its body. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { GitRefusal } from './access.ts';
import type { Service } from './serve.ts';

/** The service of a first request. Throws a GitRefusal for the protocol without a service, and for others. */
export function parseService(service: unknown): Service {
  if (service === 'git-upload-pack' || service === 'git-receive-pack') return service;
  throw new GitRefusal(403, 'This server only supports the smart HTTP protocol. Use git 1.6.6 or later.');
}

/** Only a valid version is passed on: the header comes from the client and becomes an environment variable of git. */
export function parseProtocol(request: FastifyRequest): string | undefined {
  const header = request.headers['git-protocol'];
  return typeof header === 'string' && /^version=[12]$/.test(header) ? header : undefined;
}

/** The request's body, decompressed. Throws a GitRefusal for an encoding that git does not use. */
export function bodyOf(request: FastifyRequest): Readable {
  const payload = request.body;
  if (!(payload instanceof Readable)) throw new GitRefusal(400, 'The request has no body.');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  // The client may disconnect before the body is read.
  payload.on('error', () => {});
  if (encoding === 'identity') return payload;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GitRefusal(400, 'The request body has an unsupported content encoding.');
  }
  const gunzip = createGunzip().on('error', () => {});
  payload.on('error', (error) => gunzip.destroy(error)).on('aborted', () => gunzip.destroy(new Error('aborted')));
  return payload.pipe(gunzip);
}
