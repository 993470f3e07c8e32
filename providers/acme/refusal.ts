/** Refusals of an authority (RFC 8555 section 6.7), reduced to their kind. Owners get our messages, not its own. */
import { dayMs } from '#rules/time.ts';

/** `elsewhere`: the name points to other servers. */
export type RefusalKind =
  | 'dns'
  | 'caa'
  | 'unreachable'
  | 'elsewhere'
  | 'name'
  | 'limit'
  | 'account'
  | 'order'
  | 'nonce'
  | 'other';

export class AcmeRefused extends Error {
  readonly kind: RefusalKind;
  /** How long to wait before a retry, if the authority says so. */
  readonly retryAfterMs: number | undefined;
  constructor(kind: RefusalKind, retryAfterMs?: number) {
    super(`the certificate authority refused the request: ${kind}`);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The authority could not be reached or could not respond: nothing was decided. */
export class AcmeUnreachable extends Error {
  readonly retryAfterMs: number | undefined;
  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const kinds: Record<string, RefusalKind> = {
  dns: 'dns',
  caa: 'caa',
  connection: 'unreachable',
  tls: 'unreachable',
  unauthorized: 'elsewhere',
  incorrectResponse: 'elsewhere',
  rejectedIdentifier: 'name',
  unsupportedIdentifier: 'name',
  rateLimited: 'limit',
  accountDoesNotExist: 'account',
  badNonce: 'nonce',
  orderNotReady: 'order',
};

/** The kind of a problem document; for a compound problem, the kind of its first subproblem. */
export function kindOf(problem: unknown): RefusalKind {
  const { type, subproblems } = (problem ?? {}) as { type?: unknown; subproblems?: unknown };
  const name = typeof type === 'string' ? (type.split(':').at(-1) ?? '') : '';
  if (name === 'compound' && Array.isArray(subproblems)) return kindOf(subproblems[0]);
  return kinds[name] ?? 'other';
}

/** `Retry-After` in milliseconds (RFC 9110 section 10.2.3), at most a day. */
export function retryAfterOf(field: unknown, now: Date): number | undefined {
  if (typeof field !== 'string' || field === '') return undefined;
  const ms = /^\d{1,9}$/.test(field) ? Number(field) * 1000 : Date.parse(field) - now.getTime();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, dayMs) : undefined;
}
