/** Bodies as the bytes that came, for what is signed as a whole. */
import type { Api } from '#api/api.ts';

export function takeRawBodies(scope: Api): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
