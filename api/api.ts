/** The shape every route of the API has, and what is told about each beside its path and schemas. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EntityManager } from '#db/orm.ts';
import type { ErrorCode } from '#runtime/errors.ts';
import type { IdPrefix } from '#runtime/ids.ts';
import type { Actor } from './access.ts';
import type { Requirement } from './capabilities.ts';

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** One name for log, metric, limit, documentation and tool: `site.publish`. */
    operation?: string;
    /** The limit of `perMinute` that this call counts against, where it is not that of all calls of a token. */
    counted?: 'files' | 'mcp';
    /** What must be switched on for this call, the first of it first; asked after the token and before anything else. */
    capability?: Requirement | readonly Requirement[];
    /** The code for a body field that breaks its schema, where it is not the usual one of `fieldCodes`. */
    invalid?: Record<string, ErrorCode>;
    /** Prefix of the id that a POST makes with `request.newId`. */
    makes?: IdPrefix;
    /**
     * Renders the resource of a repeated `Idempotency-Key` as it is now; on every POST that makes something. A POST without it
     * must be harmless when it runs again.
     */
    replay?: (request: FastifyRequest, resourceId: string) => Promise<unknown>;
    /** Media types of the answer, where it is not JSON alone. */
    answers?: readonly string[];
    /** The body is a file's bytes, read by the scope's own parser. */
    rawBody?: boolean;
    /** The answer shows a secret of `request.newSecret` that is never shown again, but to a repetition of the same call. */
    showsSecret?: boolean;
  }
  interface FastifyRequest {
    /**
     * What a repetition of this call is rendered from. It is the `id` of the answer; the handler of an answer without one sets it.
     */
    answeredId: string | null;
    /** Who asks. Set on every call that needs a token. */
    actor: Actor;
    /** The request's own entity manager. */
    em: EntityManager;
    /** Milliseconds that the caller is ready to wait for work to finish (`Prefer`, RFC 7240). */
    readonly waitMs: number;
    /** Id of what this call makes; the same one whenever the call is repeated under its `Idempotency-Key`. */
    newId(prefix: IdPrefix): string;
    /** Secret that this call shows once, `<prefix>_…`; the same one in a repetition, replays included. */
    newSecret(prefix: string): string;
  }
}
