/** The shape of a route: what Fastify is told about each beside its path and schemas. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EntityManager } from '../db/orm.ts';
import type { Actor } from './access.ts';
import type { Capability } from './capabilities.ts';

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
    /** What must be switched on for this call; asked after the token and before anything else. */
    capability?: Capability;
    /** Renders the resource of a repeated `Idempotency-Key` as it is now; on every POST that makes something. */
    replay?: (request: FastifyRequest, resourceId: string) => Promise<unknown>;
  }
  interface FastifyRequest {
    /** Who asks. Set on every call that needs a token. */
    actor: Actor;
    /** The request's own entity manager. */
    em: EntityManager;
    /** Milliseconds that the caller is ready to wait for work to finish (`Prefer`, RFC 7240). */
    waitMs: number;
  }
}
