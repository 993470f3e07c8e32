/** File bodies, streamed to the handler whatever their media type is. */

import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

/** Add it to a separate scope whose routes set `rawBody` in their config. */
export function readFiles(scope: Api): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/** The stream of the body; empty if there is none. */
export function fileOf(request: FastifyRequest): Readable {
  return request.body instanceof Readable ? request.body : Readable.from([]);
}

/**
 * Refuses a body whose length exceeds the file limit of every plan, before it is read. The limit of the site's own plan
 * is checked with the site.
 */
export function capFiles(scope: Api, { config }: Pick<Deps, 'config'>): void {
  const file_bytes = Math.max(...config.plans.map(({ limits }) => limits.file_bytes));
  scope.addHook('preParsing', async (request, reply, payload) => {
    if (Number(request.headers['content-length'] ?? 0) > file_bytes) {
      // So that the client does not send the rest.
      reply.header('connection', 'close');
      throw errors.plan_limit(`The file is larger than the limit of ${file_bytes} bytes.`, {
        nextAction: `Make the file smaller. ${call('account.read')} lists the limit as \`limits.file_bytes\`.`,
      });
    }
    return payload;
  });
}

/**
 * Pipes the body through `through`. If `through` fails, the rest of the body is discarded, so that the client can read
 * the error. If the client disconnects, `through` fails with `cutShort`.
 */
export function passBytes<Through extends NodeJS.WritableStream & Readable>(
  content: Readable,
  through: Through,
  cutShort: () => Error,
): Through {
  const forget = () => {
    content.unpipe(through);
    content.resume();
  };
  through.once('error', forget);
  through.once('close', forget);
  const closed = () => {
    if (!content.readableEnded) through.destroy(cutShort());
  };
  content.once('close', closed);
  content.once('error', () => through.destroy(cutShort()));
  // The client may have disconnected before this call; `close` is not emitted again.
  if (content.destroyed) closed();
  return content.pipe(through);
}
