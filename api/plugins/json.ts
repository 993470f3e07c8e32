/** Request bodies: JSON in UTF-8 of at most 1 MiB. A missing body is an empty object. */
import { isUtf8 } from 'node:buffer';
import type { Api } from '#api/api.ts';
import { withRemedy } from '#runtime/errors.ts';

export const bodyBytesMax = 1_048_576;
const depthMax = 64;

export function readJson(app: Api): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(withRemedy('invalid_json', 'The body is not encoded in UTF-8.'));
    // Fastify's own parser, because it refuses `__proto__` and `constructor.prototype`.
    void parse(request, body.toString(), (error, value) => {
      if (error) return done(error);
      const fault = unstorable(value);
      done(fault === undefined ? null : withRemedy('invalid_json', fault), value);
    });
  });
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body) request.body = {};
    const address = [...Object.values(request.params ?? {}), ...Object.entries(request.query ?? {}).flat()].flat();
    if (!address.every(isStorable))
      throw withRemedy('invalid_input', 'The URL contains characters that are not allowed.');
  });
}

/** Whether PostgreSQL can store the text: no NUL, no lone surrogates. */
function isStorable(text: unknown): boolean {
  return typeof text !== 'string' || (text.isWellFormed() && !text.includes('\0'));
}

/** Describes why the value cannot be stored. Not recursive, because clients choose the depth. */
function unstorable(root: unknown): string | undefined {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return `The body is nested more than ${depthMax} levels deep.`;
    const next: unknown[] = [];
    for (const value of level) {
      if (!isStorable(value)) return 'The body contains a NUL character or an unpaired surrogate.';
      if (Array.isArray(value)) for (const item of value) next.push(item);
      else if (value !== null && typeof value === 'object') {
        for (const [key, item] of Object.entries(value)) next.push(key, item);
      }
    }
    level = next;
  }
  return undefined;
}
