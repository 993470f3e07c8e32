/** Request bodies as raw bytes, for webhooks, whose signature covers the whole body. */
import type { Api } from '#api/api.ts';

export function takeRawBodies(scope: Api): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
