/** What an authority asks of a host to see that it is ours (RFC 8555 section 8.3). Rows, so that every edge answers. */
import type { Answer } from '#edge/content/response.ts';
import type { CertificatesDatabase } from './certificates-database.ts';
import type { VisitorRequest } from './request.ts';

export type Challenges = {
  /** Undefined for any other request. It comes over either way, and is never sent elsewhere. */
  answer(request: VisitorRequest): Promise<Answer> | undefined;
};

// Such a path leaves the short way (heads.ts), so that visitors pay nothing for it.
const path = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{16,128})$/;

export function openChallenges(database: Pick<CertificatesDatabase, 'answerOf'>): Challenges {
  return {
    answer(request) {
      const { method, address } = request;
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const token = address && path.exec(address.target)?.[1];
      if (!address || token === undefined) return undefined;
      return database.answerOf(token, address.host).then(answerToken);
    },
  };
}

function answerToken(text: string | undefined): Answer {
  const body = Buffer.from(text ?? '');
  const type = ['content-type', 'application/octet-stream', 'x-content-type-options', 'nosniff'];
  const fields = [...type, 'cache-control', 'no-store', 'content-length', String(body.length)];
  return { head: { status: text === undefined ? 404 : 200, fields }, body };
}
