/**
 * Endpoints for OAuth clients: metadata, registration (RFC 7591), tokens (RFC 6749), revocation (RFC 7009). None
 * requires a bearer token.
 */
import formBody from '@fastify/formbody';
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { useEntityManager } from '#api/plugins/bearer.ts';
import { requireCapabilities } from '#api/plugins/capability.ts';
import { limitClients } from '#api/plugins/rate-limit.ts';
import { oauthScopeOf, oauthScopes } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { resourceFault } from './authorization-request.ts';
import { type Client, readClient, registerClient } from './clients.ts';
import { openToPages, preflightsOf } from './cors.ts';
import { answerFaults, OauthFault } from './faults.ts';
import { resourceMetadata, resourceMetadataPath, serverMetadata, serverMetadataPath } from './metadata.ts';
import { exchangeCode, type Issued, refresh, revoke } from './token-exchange.ts';

const options = (operation: string) => ({
  config: { operation, capability: 'email_signin' as const },
  schema: { hide: true },
});

const resourcePaths = [resourceMetadataPath, `${resourceMetadataPath}/mcp`];

/** CORS preflights for clients in web pages. */
export function clientPreflights(scope: Api): void {
  preflightsOf(scope, 'GET', [...resourcePaths, serverMetadataPath]);
  preflightsOf(scope, 'POST', ['/oauth/register', '/oauth/token', '/oauth/revoke']);
}

/** Public, also to pages of other sites. */
export function metadataRoutes(scope: Api, deps: Deps): void {
  const { config } = deps;
  openToPages(scope);
  limitClients(scope, deps, 'pages');
  requireCapabilities(scope, deps);
  const caching = { 'cache-control': 'public, max-age=300' };
  for (const path of resourcePaths) {
    scope.get(path, options('oauth.resource'), async (_request, reply) =>
      reply.headers(caching).send(resourceMetadata(config)),
    );
  }
  scope.get(serverMetadataPath, options('oauth.server'), async (_request, reply) =>
    reply.headers(caching).send(serverMetadata(config)),
  );
}

export function registrationRoutes(scope: Api, deps: Deps): void {
  openToPages(scope);
  limitClients(scope, deps, 'registrations');
  requireCapabilities(scope, deps);
  answerFaults(scope, 'invalid_client_metadata');
  scope.post('/oauth/register', options('oauth.register'), async ({ body }, reply) => {
    const { clientId, name, redirectUris, issuedAt } = registerClient(deps.config, deps.clock.now(), body);
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({
        client_id: clientId,
        client_id_issued_at: issuedAt,
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: oauthScopes.join(' '),
      });
  });
}

export async function tokenEndpoints(scope: Api, deps: Deps): Promise<void> {
  openToPages(scope);
  scope.removeAllContentTypeParsers();
  await scope.register(formBody, { bodyLimit: 16_384 });
  useEntityManager(scope, deps);
  limitClients(scope, deps, 'oauth');
  requireCapabilities(scope, deps);
  answerFaults(scope, 'invalid_request');

  scope.post('/oauth/token', options('oauth.token'), async (request, reply) => {
    const issued = await issue(request, deps);
    return reply.header('cache-control', 'no-store').send({
      access_token: issued.accessToken,
      token_type: 'Bearer',
      expires_in: issued.expiresInSeconds,
      refresh_token: issued.refreshToken,
      scope: oauthScopeOf(issued.scope),
    });
  });

  scope.post('/oauth/revoke', options('oauth.revoke'), async (request, reply) => {
    const { client, field } = readRequest(request, deps);
    await revoke(request.em, deps, { client, token: field('token') });
    return reply.header('cache-control', 'no-store').send({});
  });
}

async function issue(request: FastifyRequest, deps: Deps): Promise<Issued> {
  const { client, field, maybe } = readRequest(request, deps);
  const fault = resourceFault(deps.config, maybe('resource'));
  if (fault) throw fault;
  const type = field('grant_type');
  if (type === 'refresh_token') return await refresh(request.em, deps, { client, token: field('refresh_token') });
  if (type !== 'authorization_code') {
    throw new OauthFault('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
  }
  const given = { client, code: field('code'), verifier: field('code_verifier'), redirectUri: maybe('redirect_uri') };
  return await exchangeCode(request.em, deps, given);
}

/** The client and the form's fields, none of which may be repeated (RFC 6749 section 3.2). Throws `OauthFault`. */
function readRequest({ body }: FastifyRequest, { config }: Deps) {
  const fields = (body ?? {}) as Record<string, unknown>;
  const maybe = (name: string): string | undefined => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw new OauthFault('invalid_request', `${name} was sent more than once.`);
  };
  const field = (name: string): string => {
    const value = maybe(name);
    if (value) return value;
    throw new OauthFault('invalid_request', `${name} is missing.`);
  };
  const client: Client | undefined = readClient(config, field('client_id'));
  if (!client) throw new OauthFault('invalid_client', 'The client is unknown. It must register again.');
  return { client, field, maybe };
}
