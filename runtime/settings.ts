/** Every setting of the environment, in groups. `npm run docs` writes `docs/settings.md` from it. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { domainModes } from '#rules/states.ts';
import { folderOrBucket } from './buckets.ts';
import {
  encryptionKeys,
  hostname,
  list,
  optionalPort,
  pairs,
  port,
  samplers,
  socketAddress,
  url,
} from './setting-types.ts';

const mebibyte = 1024 * 1024;
const onOff = z.enum(['on', 'off']);

const installation = {
  FRONTAGE_SECRET: z
    .string()
    .min(32)
    .describe(
      'At least 32 characters. Signs cursors, forms and codes, encrypts queued mails, and marks the builds of this installation. A new secret invalidates cursors, open pages and codes. Queued mails fail (see their `failure`), and builds of the old secret are no longer cleaned up.',
    ),
  FRONTAGE_SEALING_KEYS: z
    .literal('none')
    .or(encryptionKeys)
    .default([])
    .describe(
      '`v1:<secret>,v2:<secret>`, with secrets of at least 32 characters. The last key encrypts stored secrets; all keys decrypt them. See [sealing keys](#sealing-keys). With `none`, the key derived from `FRONTAGE_SECRET` is used, but payout keys are not accepted: if `FRONTAGE_PAYOUT_RAILS` contains `own_key`, all calls of payouts and payments return `payouts_unavailable`.',
    ),
  FRONTAGE_DATA: z
    .string()
    .default('.frontage')
    .transform((path) => resolve(path))
    .describe('Folder for all data on this machine.'),
  NODE_ENV: z.string().default('production').describe('Read by packages of Node.'),
  FRONTAGE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('`trace` to `error`, or `silent`.'),
};

const addresses = {
  FRONTAGE_BASE_URL: url
    .default(new URL('http://localhost:4400'))
    .describe('Public address of the API, the owner’s pages and git.'),
  FRONTAGE_API_HOST: z.string().default('127.0.0.1').describe('Address on which the API listens.'),
  FRONTAGE_API_PORT: port.default(4400).describe('Port on which the API listens.'),
  FRONTAGE_BASE_DOMAIN: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9.-]+$/)
    .default('sites.localhost')
    .describe('Sites are published at `<name>.<base domain>`. Must be another host than the base URL.'),
  FRONTAGE_EDGE_URL: url
    .default(new URL('http://localhost:4480'))
    .describe('Public scheme and port of the edge. The host comes from the base domain.'),
  FRONTAGE_EDGE_HOST: z.string().default('127.0.0.1').describe('Address on which the edge listens.'),
  FRONTAGE_EDGE_PORT: port.default(4480).describe('Port on which the edge listens.'),
};

const edges = {
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

const certificates = {
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

const services = {
  DATABASE_URL: z
    .string()
    .default('postgres://frontage:frontage@127.0.0.1:5432/frontage')
    .describe('The PostgreSQL database.'),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233').describe('Address of the workflow engine.'),
  TEMPORAL_NAMESPACE: z.string().default('default').describe('Namespace in the workflow engine.'),
  TEMPORAL_UI_URL: z.string().default('').describe('Where operators open the Temporal UI. Optional.'),
};

const workers = {
  FRONTAGE_QUEUES: list
    .pipe(z.array(z.enum(['platform', 'builds'])).min(1))
    .default(['platform', 'builds'])
    .describe('Task queues of this worker.'),
  FRONTAGE_BUILD_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe('Concurrent builds of one worker. Each may use 2 GiB and 2 CPUs.'),
  FRONTAGE_WARM_SANDBOXES: z
    .union([z.literal('').transform(() => undefined), z.coerce.number().int().min(0).max(64)])
    .optional()
    .describe(
      'Containers that a worker starts ahead of builds, about 0.7 GiB each. 0 starts none: then each build starts its own.',
    ),
  FRONTAGE_SANDBOX: z
    .enum(['auto', 'docker', 'bubblewrap', 'off', 'none-run-builds-unprotected'])
    .default('auto')
    .describe('`auto`, `docker`, `bubblewrap`, `off` or `none-run-builds-unprotected`.'),
  DOCKER_HOST: z.string().default('').describe('Socket of the container engine. Empty: the engine’s default.'),
};

const storage = {
  FRONTAGE_REPOSITORIES: z
    .string()
    .default('')
    .describe('Folder of the bare git repositories. `none` for a deployment without repositories.'),
  FRONTAGE_GIT_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(16)
    .describe(
      'Concurrent clones, fetches and pushes of one API process; one site may use half of them. Each git process takes up to 256 MiB. Other requests wait 20 s, then return 503.',
    ),
  FRONTAGE_STORE: z
    .string()
    .regex(folderOrBucket, 'is neither a folder nor s3://bucket/folder')
    .default('')
    .describe(
      'The store: a folder, or `s3://bucket/folder`. See [the store in a bucket](containers.md#the-store-in-a-bucket).',
    ),
  FRONTAGE_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('Address of the S3-compatible server of the store. Empty: the vendor’s own.'),
  FRONTAGE_S3_REGION: z.string().default('us-east-1').describe('Region of that server.'),
  FRONTAGE_S3_KEY_ID: z
    .string()
    .default('')
    .describe('Its access key. If key and secret are empty, the role or configuration of the machine is used.'),
  FRONTAGE_S3_SECRET: z.string().default('').describe('The secret of that key.'),
  FRONTAGE_BACKUP_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('Server of backups in a bucket. Choose one that cannot fail together with the store’s.'),
  FRONTAGE_BACKUP_S3_REGION: z.string().default('us-east-1').describe('Region of that server.'),
  FRONTAGE_BACKUP_S3_KEY_ID: z.string().default('').describe('Its access key.'),
  FRONTAGE_BACKUP_S3_SECRET: z.string().default('').describe('The secret of that key.'),
};

const features = {
  FRONTAGE_FILES: onOff
    .default('on')
    .describe('`off`: no assets, upload links or uploads of built output (`uploads_disabled`).'),
  FRONTAGE_SKETCHES: onOff.default('on').describe('`off`: the calls of sketches return `sketches_disabled`.'),
  FRONTAGE_BOOKINGS: onOff.default('on').describe('`off`: the calls of bookings return `bookings_unavailable`.'),
  FRONTAGE_PREVIEWS: onOff
    .default('on')
    .describe('`off`: the calls of preview slots return `preview_disabled`. Also off without repositories.'),
  FRONTAGE_PHOTOS: z
    .enum(['off', 'offline', 'pexels'])
    .default('off')
    .describe('Stock photos: `offline` (six included pictures; `npm start` sets it) or `pexels`.'),
  FRONTAGE_PEXELS_KEY: z.string().default('').describe('API key of Pexels. Required with `pexels`.'),
  FRONTAGE_PEXELS_URL: url.default(new URL('https://api.pexels.com')).describe('Address of the Pexels API.'),
  FRONTAGE_PEXELS_FILE_HOSTS: list
    .default(['images.pexels.com'])
    .describe('Hosts from which its files may be downloaded.'),
};

const domains = {
  FRONTAGE_DOMAINS: list
    .pipe(z.array(z.enum(domainModes)))
    .default([])
    .describe(
      'How owners’ domains are connected: `nameservers` (this platform hosts the zone), `cname` (their DNS points here). Empty: custom domains are not offered.',
    ),
  FRONTAGE_EDGE_ADDRESSES: list
    .pipe(z.array(z.union([z.ipv4(), z.ipv6()])))
    .default([])
    .describe('Public IPv4 and IPv6 addresses of the edge. Required with a mode of `FRONTAGE_DOMAINS`.'),
  FRONTAGE_CNAME_TARGET: hostname
    .or(z.literal(''))
    .default('')
    .describe('Target of domains in the mode `cname`. It must resolve to the edge’s addresses.'),
  FRONTAGE_NAMESERVERS: hostname
    .or(z.literal(''))
    .default('')
    .describe('Parent name of each domain’s own pair of name servers: `<random>.a.<this>` and `<random>.b.<this>`.'),
  FRONTAGE_ZONES_URL: url
    .or(z.literal(''))
    .default('')
    .describe('HTTP API of the platform’s own name server. Required with `nameservers`.'),
  FRONTAGE_ZONES_KEY: z.string().default('').describe('API key of that name server. Required with `nameservers`.'),
  FRONTAGE_DNS_RESOLVERS: list
    .pipe(z.array(socketAddress))
    .default([])
    .describe('Resolvers for DNS checks, as `address:port`.'),
  FRONTAGE_DNS_PORT: port.default(53).describe('Port on which authoritative name servers are queried.'),
  FRONTAGE_DOMAINS_RESERVED: list
    .pipe(z.array(hostname))
    .default([])
    .describe(
      'Names, with all names below them, that no account may add. The platform’s own names are always reserved.',
    ),
  FRONTAGE_DOMAINS_ENDINGS: list
    .pipe(z.array(z.string().regex(/^[a-z0-9-]+$/)))
    .default([])
    .describe('Top-level domains beyond the public suffix list, such as `test` on a local machine.'),
  FRONTAGE_CAA_NAMES: list
    .pipe(z.array(hostname))
    .default(['letsencrypt.org'])
    .describe('Names of the certificate authority in CAA records.'),
};

const signIn = {
  FRONTAGE_SIGNUP: z
    .enum(['open', 'closed'])
    .default('closed')
    .describe('`open`: the first approval or sign-in of an address creates its account. `npm start` sets it.'),
  FRONTAGE_EMAIL_SIGNIN: onOff
    .default('on')
    .describe('`off`: no access requests and no sign-in (`auth_disabled`). Also off if no mail can be sent.'),
  FRONTAGE_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .or(z.literal(''))
    .default('')
    .describe(
      'Mail server, as `smtp://user:password@host:587` or `smtps://…`. With `?requireTLS=true`, mails are only sent over TLS. Empty: no mail, so no invitations and no sign-in by e-mail. `npm start` sets its own mail catcher.',
    ),
  FRONTAGE_MAIL_FROM: z.string().default('').describe('The sender of all mails.'),
};

const forms = {
  FRONTAGE_CHALLENGE_KEY: z
    .string()
    .min(16)
    .or(z.literal(''))
    .default('')
    .describe(
      'Signs the spam challenges of forms, or is the secret key of the external verifier. At least 16 characters. Empty: no forms (`forms_disabled`). `npm start` creates one. A new key only invalidates challenges that are being solved.',
    ),
  FRONTAGE_CHALLENGE: z
    .enum(['altcha', 'turnstile'])
    .default('altcha')
    .describe('`altcha`: our own proof of work. `turnstile`: an external verifier, which sees the visitors.'),
  FRONTAGE_CHALLENGE_ROUNDS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .default(1_000_000)
    .describe('Average hashing rounds of our own challenge. A million take half a second on a phone.'),
  FRONTAGE_CHALLENGE_SITE_KEY: z.string().default('').describe('Public key of the external verifier.'),
  FRONTAGE_CHALLENGE_URL: url
    .default(new URL('https://challenges.cloudflare.com'))
    .describe('Address of the external verifier.'),
};

const money = {
  FRONTAGE_PAYOUT_RAILS: list
    .pipe(z.array(z.enum(['own_key', 'connect'])))
    .default([])
    .describe(
      'How sites receive payments: `own_key` (owners’ own keys), `connect` (accounts connected to ours). Empty: no payments (`payouts_disabled`). `npm start` sets both, with a stub of the provider.',
    ),
  FRONTAGE_PAYMENTS_KEY: z
    .string()
    .default('')
    .describe('Our own key at the payment provider. Only for the rail `connect`, which requires it.'),
  FRONTAGE_PAYMENTS_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe(
      'Verifies the provider’s webhooks to `<base url>/hooks/payments`. Only for `connect`. Subscribe to these events of connected accounts: `checkout.session.completed`, `checkout.session.expired`, `account.updated`, `account.application.deauthorized`. Webhooks are an optimisation: the platform also polls. The hourly ledger check finds refunds made in a dashboard.',
    ),
  FRONTAGE_PAYMENTS_URL: url
    .default(new URL('https://api.stripe.com'))
    .describe('Address of the payment provider’s API.'),
  FRONTAGE_BILLING_KEY: z
    .string()
    .default('')
    .describe(
      'Our own key at the provider, with which plans are sold. Empty: nothing is metered (`billing_disabled`).',
    ),
  FRONTAGE_BILLING_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe('Verifies the provider’s webhooks to `<base url>/hooks/billing`. Optional: the platform also polls.'),
  FRONTAGE_BILLING_URL: url
    .default(new URL('https://api.stripe.com'))
    .describe('Address of the provider’s API for plans.'),
  FRONTAGE_BILLING_GRACE_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(90)
    .default(7)
    .describe('Days for which a plan stays active after a failed payment.'),
  FRONTAGE_PLANS: z.string().default('').describe('File of the catalog of plans, with the price and limits of each.'),
  FRONTAGE_PLAN: z.string().default('').describe('The plan of every account if nothing is metered.'),
};

const operation = {
  FRONTAGE_RATE_SCALE: z.coerce
    .number()
    .positive()
    .default(1)
    .describe(
      'Factor for the rate limits, which `perMinute` in `api/plugins/rate-limit.ts` lists. A token has 600 calls a minute, plus 12,000 files of manifests. `npm start` sets 1000.',
    ),
  FRONTAGE_DRAIN_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .default(0)
    .describe(
      'How long a terminating process reports "not ready" but still accepts requests. Set it longer than your load balancer’s health-check interval. See [several of each](containers.md#several-processes-of-each-kind).',
    ),
  FRONTAGE_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(10)
    .describe('How long running requests may continue after that.'),
  FRONTAGE_METRICS_PORT: optionalPort.describe(
    'Port for Prometheus metrics and the health of the process. Empty: none. Keep it private: it has no authentication. See [metrics](operations.md#metrics).',
  ),
  FRONTAGE_METRICS_HOST: z.string().default('127.0.0.1').describe('Address on which metrics are served.'),
  FRONTAGE_METRICS_TEMPORAL_PORT: optionalPort.describe(
    'Port on which a worker serves the metrics of the workflow engine’s SDK.',
  ),
};

const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe(
      'OTLP receiver of traces; `/v1/traces` is appended. Empty: tracing is off and its code is not loaded. See [traces](operations.md#traces).',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('OTLP receiver of traces. It replaces the other endpoint and is used unchanged.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/json').default('http/json').describe('Only `http/json` is supported.'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.describe('Headers for the receiver, as `name=value,…`, percent-encoded.'),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce
    .number()
    .int()
    .min(100)
    .max(60_000)
    .default(10_000)
    .describe('Time-out of an export, in milliseconds.'),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(10)
    .max(60_000)
    .default(5_000)
    .describe('Time between two exports, in milliseconds.'),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on').describe('The sampler of OpenTelemetry.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).describe('Its argument, from 0 to 1.'),
  OTEL_SERVICE_NAME: z.string().default('').describe('Name of the service in traces.'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.describe('Additional resource attributes, as `name=value,…`.'),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('`true` disables tracing.'),
};

/** The settings by the heading under which `docs/settings.md` lists them. */
export const settingGroups = {
  Installation: installation,
  Addresses: addresses,
  Edge: edges,
  'TLS and certificates': certificates,
  Services: services,
  Workers: workers,
  Storage: storage,
  Features: features,
  Domains: domains,
  'Sign-in and mail': signIn,
  Forms: forms,
  'Payments and plans': money,
  Operation: operation,
  Traces: tracing,
};

export const settings = z.object({
  ...installation,
  ...addresses,
  ...edges,
  ...certificates,
  ...services,
  ...workers,
  ...storage,
  ...features,
  ...domains,
  ...signIn,
  ...forms,
  ...money,
  ...operation,
  ...tracing,
});

export type Settings = z.output<typeof settings>;
