/** Metadata for OAuth clients: the authorization server of `/mcp` (RFC 9728) and its endpoints (RFC 8414). */

import { capabilitiesOf } from '#api/capabilities.ts';
import { oauthScopes } from '#rules/scopes.ts';
import type { Config } from '#runtime/config.ts';

/** The resource that tokens are for (RFC 8707). */
export const resourceOf = ({ baseUrl }: Pick<Config, 'baseUrl'>): string => `${baseUrl}/mcp`;

export const resourceMetadataPath = '/.well-known/oauth-protected-resource';
export const serverMetadataPath = '/.well-known/oauth-authorization-server';

export function resourceMetadata(config: Config) {
  return {
    resource: resourceOf(config),
    authorization_servers: [config.baseUrl],
    scopes_supported: oauthScopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Frontage',
    resource_documentation: `${config.baseUrl}/llms.txt`,
  };
}

export function serverMetadata({ baseUrl }: Config) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    scopes_supported: oauthScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${baseUrl}/llms.txt`,
  };
}

/**
 * `WWW-Authenticate` for requests without a valid token: where to get one, if this installation issues any (RFC 9728
 * section 5.1).
 */
export function challenge(config: Config, { sentOne }: { sentOne: boolean }): string {
  const parts = [
    ...(sentOne ? ['error="invalid_token"'] : []),
    ...(capabilitiesOf(config).email_signin
      ? [`resource_metadata="${config.baseUrl}${resourceMetadataPath}/mcp"`]
      : []),
  ];
  return ['Bearer', parts.join(', ')].filter(Boolean).join(' ');
}
