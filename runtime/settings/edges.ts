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
    .describe('Processes that share the edge’s port. 0 starts one for each core.'),
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
      'Only with a store in a bucket: disk for cached files in `<data>/edge/blobs`, shared by all processes of the edge.',
    ),
  FRONTAGE_EDGE_ACCESS_LOG: onOff
    .default('off')
    .describe('`on`: the edge logs one line for each request: method, host, path, status, milliseconds.'),
  FRONTAGE_ANALYTICS: onOff
    .default('on')
    .describe('`off`: edges count no page views, and the analytics call returns `analytics_disabled`.'),
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
      'IP addresses or networks whose `x-forwarded-for` is trusted by the API, and by edges that count visitors.',
    ),
  FRONTAGE_PROXY_PROTOCOL_FROM: list
    .default([])
    .describe(
      'IP addresses or networks of load balancers that start every connection to an edge with a PROXY protocol header. See [visitors’ addresses](containers.md#visitors-addresses).',
    ),
};

export const certificates = {
  FRONTAGE_EDGE_TLS_PORT: optionalPort.describe(
    'Port on which the edge accepts TLS, with the certificates of the database. Empty: a proxy in front of it terminates TLS. See [certificates](domains.md#certificates).',
  ),
  FRONTAGE_PUBLIC_HTTP_PORT: port
    .default(80)
    .describe('Public HTTP port of the edges, for redirects, our own checks and the certificate authority.'),
  FRONTAGE_PUBLIC_TLS_PORT: port.default(443).describe('Public TLS port of the edges.'),
  FRONTAGE_ACME_URL: z
    .url()
    .or(z.literal(''))
    .default('')
    .describe('Directory of the certificate authority (RFC 8555). Empty: no certificates are ordered.'),
  FRONTAGE_ACME_TERMS: z
    .enum(['agreed', ''])
    .default('')
    .describe('`agreed` accepts the terms of the authority. Required with `FRONTAGE_ACME_URL`.'),
  FRONTAGE_ACME_EMAIL: z.string().default('').describe('Contact address for the authority. Optional.'),
  FRONTAGE_ACME_CA: z
    .string()
    .default('')
    .describe('File of root certificates for the authority’s servers, if the machine does not trust them.'),
};
