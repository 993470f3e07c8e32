/** Responses to HTTP-01 challenges (RFC 8555 section 8.3). They are rows, so that every edge responds. */
import { createBatchedLookup } from '#edge/batched-lookup.ts';
import type { EdgeResponse } from '#edge/content/response.ts';
import type { CertificatesDatabase } from './certificates-database.ts';
import type { VisitorRequest } from './request.ts';

export type ChallengeResponder = {
  /** Undefined for any other request. Challenges arrive with or without TLS, and are never redirected. */
  answer(request: VisitorRequest): Promise<EdgeResponse> | undefined;
};

// Such a path leaves the fast path (http1-head.ts), so it costs visitors nothing.
const path = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{16,128})$/;

export function createChallengeResponder(
  database: Pick<CertificatesDatabase, 'challengeResponses'>,
): ChallengeResponder {
  const lookUp = createBatchedLookup((tokens) => database.challengeResponses(tokens));
  return {
    answer(request) {
      const { method, address } = request;
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const token = address && path.exec(address.target)?.[1];
      if (!address || token === undefined) return undefined;
      const names = [address.host, `*.${address.host}`];
      return lookUp(token).then((found) => answerToken(found && names.includes(found.name) ? found.answer : undefined));
    },
  };
}

function answerToken(text: string | undefined): EdgeResponse {
  const body = Buffer.from(text ?? '');
  const type = ['content-type', 'application/octet-stream', 'x-content-type-options', 'nosniff'];
  const fields = [...type, 'cache-control', 'no-store', 'content-length', String(body.length)];
  return { head: { status: text === undefined ? 404 : 200, fields }, body };
}
