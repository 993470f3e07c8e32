/** Bodies that are a file: handed on as they arrive, whatever type they call themselves. */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

/** Add it to a scope of its own, whose routes have `rawBody` in their config. */
export function readFiles(scope: Api): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/** The body of such a call; empty where none was sent. */
export function fileOf(request: FastifyRequest): Readable {
  return request.body instanceof Readable ? request.body : Readable.from([]);
}

/** A body that says that it is larger than a file may be on any plan is refused before it is read; the site's own cap is judged with the site. */
export function capFiles(scope: Api, { config }: Pick<Deps, 'config'>): void {
  const file_bytes = Math.max(...config.plans.map(({ limits }) => limits.file_bytes));
  scope.addHook('preParsing', async (request, reply, payload) => {
    if (Number(request.headers['content-length'] ?? 0) > file_bytes) {
      // Nobody waits for the rest of it.
      reply.header('connection', 'close');
      throw errors.plan_limit(`The file is larger than the limit of ${file_bytes} bytes.`, {
        nextAction: 'Make the file smaller. GET /v1/account lists the limit as `limits.file_bytes`.',
      });
    }
    return payload;
  });
}

/**
 * Lets the bytes of a request run through `through`. Where that refuses them the rest is read and forgotten, so that the caller
 * hears why; where the caller goes away, `through` fails with `cutShort`.
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
  content.once('close', () => {
    if (!content.readableEnded) through.destroy(cutShort());
  });
  content.once('error', () => through.destroy(cutShort()));
  return content.pipe(through);
}
