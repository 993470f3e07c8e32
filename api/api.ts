/** The types of all routes of the API, and the metadata of a route besides its path and schemas. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
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
import type { NeedName } from './scopes/needs.ts';

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** What a function of a route needs of a request with a token. */
export type Authenticated = Pick<FastifyRequest, 'em' | 'actor'>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation's name in logs, metrics, documentation and tools: `site.publish`. */
    operation?: string;
    /** The limit of `perMinute` for this operation, if it differs from the token's. */
    counted?: 'files' | 'mcp';
    /**
     * The capabilities that the operation requires. Checked in this order, after the token and before everything else.
     */
    capability?: Requirement | readonly Requirement[];
    /** What the operation needs of the token's scope. Required where a token is. */
    needs?: NeedName;
    /**
     * Checked before the owner is asked to allow a call beyond the token's scope: throws what their permission would
     * not change. It reveals nothing that the token may not read.
     */
    precondition?: (request: FastifyRequest) => Promise<void>;
    /** Text fields of the body that the owner sees before they allow a refused call. What they allow once has the same. */
    shownToOwner?: readonly string[];
    /** Only the owner of the site may make the call, or do with it what the text says, as in "change the name". */
    ownerOnly?: true | string;
    /** Error codes for invalid fields of the body, if they differ from those in `fieldCodes`. */
    invalid?: Record<string, ErrorCode>;
    /** The prefix of the id that a POST creates with `request.newId`. */
    makes?: IdPrefix;
    /**
     * Renders the current state of the resource for a repeated `Idempotency-Key`. Required for every POST that creates
     * something; a POST without it must be safe to repeat.
     */
    replay?: (request: FastifyRequest, resourceId: string) => Promise<unknown>;
    /**
     * The call changes the resource of its path, or makes one that can be removed, and records that as one act of
     * `request.actor`. Where its answer was lost, the repeated request finds the entry and changes nothing that happened
     * since.
     */
    recordsOnce?: true;
    /** Media types of the response, if JSON is not the only one. */
    answers?: readonly string[];
    /** The body is a file, read by the parser of the scope. */
    rawBody?: boolean;
    /** Media types of a body of bytes; any if absent. */
    takes?: readonly string[];
    /**
     * The response contains a secret of `request.newSecret`. Only a repeated request with the same key returns it
     * again.
     */
    showsSecret?: boolean;
  }
  interface FastifyRequest {
    /** The id from which a repeated request is rendered: the `id` of the response, or set by the handler. */
    answeredId: string | null;
    /** The authenticated caller. Set where a token is required. */
    actor: Actor;
    /** The entity manager of this request. */
    em: EntityManager;
    /** How many milliseconds the client will wait for the work to finish (`Prefer`, RFC 7240). */
    readonly waitMs: number;
    /** Creates the id of a new resource. Requests with the same `Idempotency-Key` get the same id. */
    newId(prefix: IdPrefix): string;
    /** Creates the secret that the response shows once, `<prefix>_…`. Replays get the same secret. */
    newSecret(prefix: string): string;
  }
}
