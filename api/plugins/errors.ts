/** All errors have the same body with one key, and reveal nothing about their internal cause. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { renderFor, wrongKindIn } from '#api/operations/next-steps.ts';
import { GitLimitReached } from '#providers/repositories/git.ts';
import { call } from '#rules/calls/calls.ts';
import { AppError, type ErrorBody, type ErrorCode, errors, withRemedy } from '#runtime/errors.ts';
import { faultWords, type Issue } from './field-faults.ts';

/** Error codes for particular fields, anywhere in a body or query. Other fields return the general code. */
const fieldCodes: Record<string, ErrorCode> = {
  limit: 'invalid_limit',
  cursor: 'invalid_cursor',
  since: 'invalid_since',
  period: 'invalid_period',
  query: 'invalid_query',
  format: 'invalid_format',
  scope: 'invalid_scope',
  status: 'invalid_status',
  name: 'invalid_name',
  title: 'invalid_title',
  template: 'invalid_template',
  email: 'invalid_email',
  expires_at: 'invalid_expiry',
};

/** For an address that no route has. */
export function unknownUrl(): AppError {
  return errors.not_found('There is no resource at this URL.', {
    nextAction: `Call ${call('openapi.read')}, which lists the paths, and correct the URL.`,
  });
}

/** Sends an error response. Unexpected errors are logged with their stack and returned as `internal`. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body = beginError(error, request, reply);
  return reply.type('application/json; charset=utf-8').send({ error: body });
}

/** Sets the status and headers of an error response and returns its body, for responses with another format. */
export function beginError(error: unknown, request: FastifyRequest, reply: FastifyReply): ErrorBody {
  const known = asAppError(error, request);
  if (request.internal) request.internal.refusal = known;
  if (known.code === 'internal') request.log.error({ err: error }, 'unexpected failure');
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(known.retryAfterSeconds));
  if (known.status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(known.status);
  const body = known.code === 'internal' ? { ...known.toBody(), request_id: request.id } : known.toBody();
  const message = known.code === 'not_found' ? wrongKindIn(request) : undefined;
  const { next_action: next } = body;
  return {
    ...body,
    ...(message === undefined ? {} : { message }),
    ...(next === undefined ? {} : { next_action: renderFor(request, next) }),
  };
}

/** PostgreSQL's `lock_not_available`: a row stayed locked for as long as a call may wait. */
const lockTimeout = '55P03';

/** Converts an error to one of the catalog; unexpected errors become `internal`. */
export function asAppError(error: unknown, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return fromValidation(error as unknown as Invalid, request);
  if (error === request.raw.errored) return errors.invalid_input('The connection closed before the body ended.');
  if (error instanceof GitLimitReached) {
    return errors.plan_limit('This takes git more time or memory than one call may use.', {
      nextAction:
        'Change fewer files at a time. If it still fails, push with git, and remove large files from the site.',
    });
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (code === lockTimeout) {
    return errors.rate_limited('Other calls are changing the same thing at the moment.', {
      nextAction: 'Send the same call again after 5 seconds.',
      retryAfterSeconds: 5,
    });
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return withRemedy('body_too_large', 'The body is larger than 1 MiB.');
  if (code === 'FST_ERR_BAD_URL') {
    return errors.invalid_input('The request URL is malformed.', {
      nextAction: 'Percent-encode the path and the query as UTF-8, and send the request again.',
    });
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return unknownUrl();
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return withRemedy('invalid_json', 'The body must be JSON, sent with content-type: application/json.');
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP_')) {
    return withRemedy('invalid_json', 'The body is not valid JSON.');
  }
  return errors.internal('An error occurred on the platform; there is nothing wrong with the request.', {
    nextAction: `Send the same request again. If it still fails, report the request_id with ${call('feedback.create')}.`,
  });
}

const repeatCorrectly = `and send the request again. ${call('openapi.read')} describes what the call accepts.`;

type Invalid = { validation: Issue[]; validationContext: 'body' | 'querystring' | 'params' | 'headers' };

function fromValidation({ validation, validationContext }: Invalid, request: FastifyRequest): AppError {
  const [issue] = validation as [Issue];
  const [field = '', ...rest] = issue.instancePath.split('/').filter(Boolean);
  const inBody = validationContext === 'body';
  const general = inBody ? 'invalid_json' : 'invalid_input';
  const place = inBody ? 'in the body' : validationContext === 'params' ? 'in the path' : 'in the query';
  const unknown = issue.params.keys?.map((key) => JSON.stringify(key.slice(0, 80))).join(', ');
  if (unknown !== undefined) {
    const parent = [field, ...rest].filter(Boolean).join('.');
    const where = parent ? `inside ${parent} ${place}` : place;
    const [fields, them] = issue.params.keys?.length === 1 ? ['the field', 'it'] : ['the fields', 'them'];
    return errors[general](`This call does not accept ${fields} ${unknown} ${where}.`, {
      nextAction: `Remove ${them}, ${repeatCorrectly}`,
    });
  }
  if (field === '') return withRemedy('invalid_json', 'The body must be a JSON object.');
  const path = [field, ...rest];
  const words = faultWords(path, issue, request.routeOptions.schema?.[validationContext]);
  const fault =
    words === null
      ? `The field ${path.join('.')} is required ${place}.`
      : `The field ${path.join('.')} ${place} ${words}.`;
  const named = { name: path.join('.'), words: words ?? 'is required' };
  const code = request.routeOptions.config.invalid?.[field] ?? fieldCodes[field] ?? general;
  if (code !== 'invalid_json' && code !== 'invalid_input') return withRemedy(code, fault, { field: named });
  return errors[code](fault, { field: named, nextAction: `Correct ${path.join('.')}, ${repeatCorrectly}` });
}
