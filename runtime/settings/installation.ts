/** The installation itself: its secrets, addresses and services. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { encryptionKeys, port, url } from './types.ts';

export const installation = {
  FRONTAGE_SECRET: z
    .string()
    .min(32)
    .describe(
      'Secret of at least 32 characters. Signs cursors, forms and codes, encrypts queued e-mails, and labels this installation’s builds. Changing it invalidates cursors, open pages and codes. Queued e-mails fail (see their `failure`), and builds labelled with the old secret are no longer cleaned up.',
    ),
  FRONTAGE_SEALING_KEYS: z
    .literal('none')
    .or(encryptionKeys)
    .default([])
    .describe(
      'Encryption keys, as `v1:<secret>,v2:<secret>`, with secrets of at least 32 characters. The last key encrypts stored secrets; all keys decrypt them. See [sealing keys](#sealing-keys). With `none`, the key derived from `FRONTAGE_SECRET` is used, but payout keys are not accepted: if `FRONTAGE_PAYOUT_RAILS` contains `own_key`, all payout and payment calls return `payouts_unavailable`.',
    ),
  FRONTAGE_DATA: z
    .string()
    .default('.frontage')
    .transform((path) => resolve(path))
    .describe('Folder for all data on this machine.'),
  NODE_ENV: z.string().default('production').describe('Environment name, read by Node.js packages.'),
  FRONTAGE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Minimum level of log lines: `trace`, `debug`, `info`, `warn`, `error` or `silent`.'),
};

export const addresses = {
  FRONTAGE_BASE_URL: url
    .default(new URL('http://localhost:4400'))
    .describe('Public URL of the API, the owners’ pages and git.'),
  FRONTAGE_API_HOST: z.string().default('127.0.0.1').describe('Address on which the API listens.'),
  FRONTAGE_API_PORT: port.default(4400).describe('Port on which the API listens.'),
  FRONTAGE_BASE_DOMAIN: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9.-]+$/)
    .default('sites.localhost')
    .describe(
      'Sites are published at `<name>.<base domain>`. The base domain must differ from the host of the base URL.',
    ),
  FRONTAGE_EDGE_URL: url
    .default(new URL('http://localhost:4480'))
    .describe('Public scheme and port of the edge. The host comes from the base domain.'),
  FRONTAGE_EDGE_HOST: z.string().default('127.0.0.1').describe('Address on which the edge listens.'),
  FRONTAGE_EDGE_PORT: port.default(4480).describe('Port on which the edge listens.'),
};

export const services = {
  DATABASE_URL: z
    .string()
    .default('postgres://frontage:frontage@127.0.0.1:5432/frontage')
    .describe('URL of the PostgreSQL database.'),
  FRONTAGE_BUILDS_DATABASE_URL: z
    .literal('')
    .or(
      url.refine(
        ({ username, password }) => username && password,
        'must have the form postgres://role:password@host/database',
      ),
    )
    .default('')
    .describe(
      'Only for `frontage-admin database migrate`: the `DATABASE_URL` of workers that serve only builds, with a role of their own. The command creates the role and updates its rights ([why](operations.md#the-database-role-of-builds)). Empty: it does not.',
    ),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233').describe('Address of the Temporal server.'),
  TEMPORAL_NAMESPACE: z.string().default('default').describe('Temporal namespace.'),
  TEMPORAL_UI_URL: z.string().default('').describe('URL at which operators open the Temporal UI. Optional.'),
};
