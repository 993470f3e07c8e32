/** Edges and the certificates that they serve. */
import { z } from 'zod';
import { list, mebibyte, onOff, optionalPort, port } from './types.ts';

export const edges = {
  FRONTAGE_EDGE_PROCESSES: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .default(0)
    .describe('Number of processes that share the edge’s port. 0 starts one per CPU core.'),
  FRONTAGE_EDGE_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(mebibyte)
    .default(256 * mebibyte)
    .describe(
      'Memory for the most requested files, divided among the edge’s processes. See [memory of an edge](operations.md#memory-of-an-edge).',
    ),
  FRONTAGE_EDGE_DISK_BYTES: z.coerce
    .number()
    .int()
    .min(64 * mebibyte)
    .default(4096 * mebibyte)
    .describe(
      'Disk space for cached files in `<data>/edge/blobs`, shared by all processes of the edge. Used only if the store is in a bucket.',
    ),
  FRONTAGE_EDGE_ACCESS_LOG: onOff
    .default('off')
    .describe('`on`: the edge logs one line for each request: method, host, path, status, milliseconds.'),
  FRONTAGE_ANALYTICS: onOff
    .default('on')
    .describe('`off`: edges do not count page views, and the analytics call returns `analytics_disabled`.'),
  FRONTAGE_COUNTRY_HEADER: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9-]*$/)
    .default('')
    .describe(
      'Header in which a trusted proxy sends the visitor’s country as two letters (ISO 3166-1), such as `NZ`. Empty: countries are not counted.',
    ),
  FRONTAGE_TRUSTED_PROXIES: list
    .default([])
    .describe(
      'IP addresses or networks of proxies whose `x-forwarded-for` header is trusted by the API, and by edges when they count visitors.',
    ),
  FRONTAGE_PROXY_PROTOCOL_FROM: list
    .default([])
    .describe(
      'IP addresses or networks of load balancers that start every connection to an edge with a PROXY protocol header. See [visitors’ addresses](containers.md#visitors-addresses).',
    ),
};

export const certificates = {
  FRONTAGE_EDGE_TLS_PORT: optionalPort.describe(
    'Port on which the edge accepts TLS, with the certificates in the database. Empty: a proxy in front of it terminates TLS. See [certificates](domains.md#certificates).',
  ),
  FRONTAGE_PUBLIC_HTTP_PORT: port
    .default(80)
    .describe('Public HTTP port of the edges, for redirects, the platform’s own checks and the certificate authority.'),
  FRONTAGE_PUBLIC_TLS_PORT: port.default(443).describe('Public TLS port of the edges.'),
  FRONTAGE_ACME_URL: z
    .url()
    .or(z.literal(''))
    .default('')
    .describe('Directory URL of the certificate authority (RFC 8555). Empty: no certificates are ordered.'),
  FRONTAGE_ACME_TERMS: z
    .enum(['agreed', ''])
    .default('')
    .describe('`agreed` accepts the certificate authority’s terms of service. Required with `FRONTAGE_ACME_URL`.'),
  FRONTAGE_ACME_EMAIL: z
    .string()
    .default('')
    .describe('Contact e-mail address for the certificate authority. Optional.'),
  FRONTAGE_ACME_CA: z
    .string()
    .default('')
    .describe(
      'File with root certificates for the certificate authority’s servers, if the machine does not trust them.',
    ),
};
