/** The only reader of the environment: one schema, every fault reported at once, the result frozen. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { ownCatalog, readPlans } from '#rules/plans.ts';
import { domainModes } from '#rules/states.ts';
import { createEncryptionKeys } from './encryption.ts';

const port = z.coerce.number().int().min(0).max(65535);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);
const hostname = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/);
const socketAddress = z.string().regex(/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]):\d{1,5}$/, 'is not address:port');
const url = z.url().transform((text) => new URL(text));

/** As OpenTelemetry's variables have them. Never says what was given: there are keys among them. */
const pairs = z
  .string()
  .default('')
  .transform((text, check) => {
    const all = text.split(',').filter((part) => part.trim() !== '');
    try {
      return Object.fromEntries(all.map((part) => readPair(part)));
    } catch {
      check.addIssue({ code: 'custom', message: 'is not name=value,name=value', input: undefined });
      return z.NEVER;
    }
  });

function readPair(part: string): [string, string] {
  const at = part.indexOf('=');
  const name = part.slice(0, at).trim();
  if (at < 0 || !/^[\w.-]+$/.test(name)) throw new Error('not name=value');
  return [name, decodeURIComponent(part.slice(at + 1).trim())];
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const tooFew =
  'is a list such as v1:<secret>,v2:<secret>, each version and each secret once, secrets of at least 32 characters';
/** Never says what was given: they are secrets. */
const sealingKeys = list
  .transform((parts) =>
    parts.map((part) => ({ version: part.split(':', 1)[0] ?? '', secret: part.slice(part.indexOf(':') + 1) })),
  )
  .refine(
    (keys) => keys.every(({ version, secret }) => /^[a-z0-9]{1,16}$/.test(version) && secret.length >= 32),
    tooFew,
  )
  .refine((keys) => new Set(keys.flatMap(({ version, secret }) => [version, secret])).size === 2 * keys.length, tooFew);

/** How a folder, or a folder of a bucket, is written. What looks like the address of another kind of store is no folder. */
export const folderOrBucket =
  /^(?![sS]3:|[A-Za-z][A-Za-z0-9+.-]*:\/\/)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[a-zA-Z0-9._/-]*)?$/;

const schema = z.object({
  NODE_ENV: z.string().default('production'),
  /** Folder of everything kept on this machine. */
  FRONTAGE_DATA: z
    .string()
    .default('.frontage')
    .transform((path) => resolve(path)),
  /** Address of the API, the owner's pages and git, as callers write it. */
  FRONTAGE_BASE_URL: url.default(new URL('http://localhost:4400')),
  FRONTAGE_API_HOST: z.string().default('127.0.0.1'),
  FRONTAGE_API_PORT: port.default(4400),
  /** Scheme and port under which visitors reach the edge; the host comes from the base domain. */
  FRONTAGE_EDGE_URL: url.default(new URL('http://localhost:4480')),
  FRONTAGE_EDGE_HOST: z.string().default('127.0.0.1'),
  FRONTAGE_EDGE_PORT: port.default(4480),
  /** Port on which the edge speaks TLS, under the certificates of the database; empty where something before it does. */
  FRONTAGE_EDGE_TLS_PORT: z.union([z.literal('').transform(() => undefined), port]).optional(),
  /** Ports under which the world reaches edges: the authority's and visitors' requests go to these. */
  FRONTAGE_PUBLIC_HTTP_PORT: port.default(80),
  FRONTAGE_PUBLIC_TLS_PORT: port.default(443),
  /** Processes that share the edge's port; 0 is one for each core. */
  FRONTAGE_EDGE_PROCESSES: z.coerce.number().int().min(0).max(256).default(0),
  /** Memory for the files that are asked for most, shared out among the edge's processes. */
  FRONTAGE_EDGE_CACHE_BYTES: z.coerce
    .number()
    .int()
    .min(1024 * 1024)
    .default(256 * 1024 * 1024),
  /** Whether the edge logs a line for each request: method, host, path, status, milliseconds. */
  FRONTAGE_EDGE_ACCESS_LOG: z.enum(['on', 'off']).default('off'),
  /** Addresses or networks of fronts that begin each connection to an edge with whom it is from (PROXY protocol). */
  FRONTAGE_PROXY_PROTOCOL_FROM: list.default([]),
  /** Domain under which sites are published: `<name>.<base domain>`. Another host than the base URL's. */
  FRONTAGE_BASE_DOMAIN: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9.-]+$/)
    .default('sites.localhost'),
  DATABASE_URL: z.string().default('postgres://frontage:frontage@127.0.0.1:5432/frontage'),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  /** Where operators open the Temporal UI; empty when there is none. */
  TEMPORAL_UI_URL: z.string().default(''),
  /** Which task queues this worker serves. */
  FRONTAGE_QUEUES: list.pipe(z.array(z.enum(['platform', 'builds'])).min(1)).default(['platform', 'builds']),
  /** Builds that one worker runs at the same time. */
  FRONTAGE_BUILD_SLOTS: z.coerce.number().int().min(1).max(64).default(2),
  /** Sandboxes that one worker keeps started ahead; empty for as many as its slots and the memory of the engine's machine allow. */
  FRONTAGE_WARM_SANDBOXES: z
    .union([z.literal('').transform(() => undefined), z.coerce.number().int().min(0).max(64)])
    .optional(),
  FRONTAGE_SANDBOX: z.enum(['auto', 'docker', 'bubblewrap', 'off', 'none-run-builds-unprotected']).default('auto'),
  /** Socket of the container engine; empty for the engine's own default. */
  DOCKER_HOST: z.string().default(''),
  /** Bare git repositories; `none` for a deployment that holds none. */
  FRONTAGE_REPOSITORIES: z.string().default(''),
  /** Clones, fetches and pushes that one API process serves at the same time. */
  FRONTAGE_GIT_SLOTS: z.coerce.number().int().min(1).max(1024).default(16),
  /** A folder, or `s3://bucket/folder` on an S3-compatible server. */
  FRONTAGE_STORE: z.string().regex(folderOrBucket, 'is neither a folder nor s3://bucket/folder').default(''),
  /** Address of that server; empty for the vendor's own. */
  FRONTAGE_S3_ENDPOINT: url.or(z.literal('')).default(''),
  FRONTAGE_S3_REGION: z.string().default('us-east-1'),
  /** Its access key; both empty where the machine itself has a role. */
  FRONTAGE_S3_KEY_ID: z.string().default(''),
  FRONTAGE_S3_SECRET: z.string().default(''),
  /** The server of backups in a bucket, where that is another one; its endpoint and key as above. */
  FRONTAGE_BACKUP_S3_ENDPOINT: url.or(z.literal('')).default(''),
  FRONTAGE_BACKUP_S3_REGION: z.string().default('us-east-1'),
  FRONTAGE_BACKUP_S3_KEY_ID: z.string().default(''),
  FRONTAGE_BACKUP_S3_SECRET: z.string().default(''),
  /** Disk that an edge may take for files of a store that is elsewhere. */
  FRONTAGE_EDGE_DISK_BYTES: z.coerce
    .number()
    .int()
    .min(64 * 1024 * 1024)
    .default(4 * 1024 * 1024 * 1024),
  /** Whether files can come without git: assets, upload links, built output. */
  FRONTAGE_FILES: z.enum(['on', 'off']).default('on'),
  /** Whether designs may be shown on hosts of their own. */
  FRONTAGE_SKETCHES: z.enum(['on', 'off']).default('on'),
  /** Whether sites can take bookings. */
  FRONTAGE_BOOKINGS: z.enum(['on', 'off']).default('on'),
  /** Whether sites may be previewed on hosts of their own. */
  FRONTAGE_PREVIEWS: z.enum(['on', 'off']).default('on'),
  /** Whether edges count page views. */
  FRONTAGE_ANALYTICS: z.enum(['on', 'off']).default('on'),
  /** How owners' domains come here: `nameservers` (we hold the zone), `cname` (their DNS points here); none by default. */
  FRONTAGE_DOMAINS: list.pipe(z.array(z.enum(domainModes))).default([]),
  /** Name servers that answer our questions about the DNS, as `host:port`; the system's own by default. */
  FRONTAGE_DNS_RESOLVERS: list.pipe(z.array(socketAddress)).default([]),
  /** Port on which the name servers of other people's zones are asked. */
  FRONTAGE_DNS_PORT: port.default(53),
  /** The HTTP API of our own name server, and its key. */
  FRONTAGE_ZONES_URL: url.or(z.literal('')).default(''),
  FRONTAGE_ZONES_KEY: z.string().default(''),
  /** Under which name domains get their own pair of name servers, `<random>.a.<this>` and `<random>.b.<this>`; by default `ns.` the base domain. */
  FRONTAGE_NAMESERVERS: hostname.or(z.literal('')).default(''),
  /** What a domain in `cname` mode points at; by default `cname.` the base domain. It leads to the edge's addresses. */
  FRONTAGE_CNAME_TARGET: hostname.or(z.literal('')).default(''),
  /** The edge's addresses, IPv4 and IPv6, as visitors reach it. */
  FRONTAGE_EDGE_ADDRESSES: list.pipe(z.array(z.union([z.ipv4(), z.ipv6()]))).default([]),
  /** Names beside our own that no account may bring, nor any below them. */
  FRONTAGE_DOMAINS_RESERVED: list.pipe(z.array(hostname)).default([]),
  /** Endings that names may have beside those of the public suffix list, as `test` on a machine of one's own. */
  FRONTAGE_DOMAINS_ENDINGS: list.pipe(z.array(z.string().regex(/^[a-z0-9-]+$/))).default([]),
  /** What CAA records call the authority that issues our certificates. */
  FRONTAGE_CAA_NAMES: list.pipe(z.array(hostname)).default(['letsencrypt.org']),
  /** Header in which a trusted proxy says a visitor's country, as two letters (ISO 3166-1); empty for none. */
  FRONTAGE_COUNTRY_HEADER: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9-]*$/)
    .default(''),
  /** Where stock photos come from: nowhere, a few pictures of our own, or Pexels, for which there is a key. */
  FRONTAGE_PHOTOS: z.enum(['off', 'offline', 'pexels']).default('off'),
  FRONTAGE_PEXELS_KEY: z.string().default(''),
  FRONTAGE_PEXELS_URL: url.default(new URL('https://api.pexels.com')),
  /** Hosts that its files may come from. */
  FRONTAGE_PEXELS_FILE_HOSTS: list.default(['images.pexels.com']),
  /** Signs cursors and derives keys. At least 32 characters. */
  FRONTAGE_SECRET: z.string().min(32),
  /** Seal what rows keep unreadable: the last seals, all open. By default one that the secret makes; `none` where no payout key is held. */
  FRONTAGE_SEALING_KEYS: z.literal('none').or(sealingKeys).default([]),
  /** The server that takes mail, as `smtp://user:password@host:587`; without one no mail is sent. */
  FRONTAGE_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .or(z.literal(''))
    .default(''),
  /** The sender, as `Frontage <hello@example.com>`; by default `hello@` the base URL's host. */
  FRONTAGE_MAIL_FROM: z.string().default(''),
  /** Whether an approval opens an account for an address that has none. */
  FRONTAGE_SIGNUP: z.enum(['open', 'closed']).default('closed'),
  /** Sign-in by email; off also where no mail can be sent. */
  FRONTAGE_EMAIL_SIGNIN: z.enum(['on', 'off']).default('on'),
  /** Which challenge a visitor's browser solves before a form is taken: our own, or that of a verifier elsewhere. */
  FRONTAGE_CHALLENGE: z.enum(['altcha', 'turnstile']).default('altcha'),
  /** Signs our own challenges, or is the verifier's secret key; without one no forms are taken. At least 16 characters. */
  FRONTAGE_CHALLENGE_KEY: z.string().min(16).or(z.literal('')).default(''),
  /** Of the verifier elsewhere: the public key for its widget, and its address. */
  FRONTAGE_CHALLENGE_SITE_KEY: z.string().default(''),
  FRONTAGE_CHALLENGE_URL: url.default(new URL('https://challenges.cloudflare.com')),
  /** Rounds of hashing that our own challenge takes on average: a million are half a second of a telephone's. */
  FRONTAGE_CHALLENGE_ROUNDS: z.coerce.number().int().min(1_000).max(1_000_000_000).default(1_000_000),
  /** How sites can be paid: with keys of owners' own, or on accounts connected to ours; empty where no money is taken. */
  FRONTAGE_PAYOUT_RAILS: list.pipe(z.array(z.enum(['own_key', 'connect']))).default([]),
  /** Our own key at the provider of payments; for the rail `connect` alone. */
  FRONTAGE_PAYMENTS_KEY: z.string().default(''),
  /** Address of the provider's API. */
  FRONTAGE_PAYMENTS_URL: url.default(new URL('https://api.stripe.com')),
  /** Signs what the provider tells `/hooks/payments`; for the rail `connect` alone. */
  FRONTAGE_PAYMENTS_WEBHOOK_SECRET: z.string().default(''),
  /** Directory of the authority that gives certificates (RFC 8555); empty where none are got. */
  FRONTAGE_ACME_URL: z.url().or(z.literal('')).default(''),
  /** `agreed`: to the terms of that authority. */
  FRONTAGE_ACME_TERMS: z.enum(['agreed', '']).default(''),
  /** Where the authority writes to; may be empty. */
  FRONTAGE_ACME_EMAIL: z.string().default(''),
  /** File of certificates that the authority's own servers are trusted by, where the machine's do not do. */
  FRONTAGE_ACME_CA: z.string().default(''),
  /** The catalog of plans, a file; by default the one of this folder. */
  FRONTAGE_PLANS: z.string().default(''),
  /** The plan that everybody has where billing is off; by default the largest. */
  FRONTAGE_PLAN: z.string().default(''),
  /** The platform's own key with the provider that takes money for plans; without one billing is off. */
  FRONTAGE_BILLING_KEY: z.string().default(''),
  /** Verifies what that provider reports; plans are followed without, by asking. */
  FRONTAGE_BILLING_WEBHOOK_SECRET: z.string().default(''),
  /** Address of that provider's API. */
  FRONTAGE_BILLING_URL: url.default(new URL('https://api.stripe.com')),
  /** Days for which a plan stays in force when a payment for it fails. */
  FRONTAGE_BILLING_GRACE_DAYS: z.coerce.number().int().min(0).max(90).default(7),
  FRONTAGE_RATE_SCALE: z.coerce.number().positive().default(1),
  /** Addresses or networks whose `x-forwarded-for` is believed, by the API and where edges count visitors. */
  FRONTAGE_TRUSTED_PROXIES: list.default([]),
  /** Seconds for which a process that is told to end says it is not ready, and takes what comes all the same. */
  FRONTAGE_DRAIN_SECONDS: z.coerce.number().int().min(0).max(300).default(0),
  /** Seconds that requests which run may take after that. */
  FRONTAGE_GRACE_SECONDS: z.coerce.number().int().min(1).max(3600).default(10),
  /** Where a process tells its figures to Prometheus and says whether it works; empty where it does not. Not for the world. */
  FRONTAGE_METRICS_PORT: z.union([z.literal('').transform(() => undefined), port]).optional(),
  FRONTAGE_METRICS_HOST: z.string().default('127.0.0.1'),
  /** Where a worker tells those of the workflow engine's SDK. */
  FRONTAGE_METRICS_TEMPORAL_PORT: z.union([z.literal('').transform(() => undefined), port]).optional(),
  /** Where traces are told: a receiver of OTLP over HTTP, `/v1/traces` added; the second is taken as it is. None: nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: url.or(z.literal('')).default(''),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.or(z.literal('')).default(''),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/json').default('http/json'),
  /** `name=value,…`, percent-encoded: what the receiver wants to see, a key among it. */
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(100).max(60_000).default(10_000),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(10).max(60_000).default(5_000),
  OTEL_SERVICE_NAME: z.string().default(''),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false'),
  FRONTAGE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

const hasPhotosKey = (env: z.output<typeof schema>) =>
  env.FRONTAGE_PHOTOS !== 'pexels' || env.FRONTAGE_PEXELS_KEY !== '';
const hasZones = (env: z.output<typeof schema>) =>
  !env.FRONTAGE_DOMAINS.includes('nameservers') || (env.FRONTAGE_ZONES_URL !== '' && env.FRONTAGE_ZONES_KEY !== '');
const noZones = {
  path: ['FRONTAGE_ZONES_URL'],
  message: 'and FRONTAGE_ZONES_KEY are needed where FRONTAGE_DOMAINS has nameservers',
};
const hasEdgeAddresses = (env: z.output<typeof schema>) =>
  env.FRONTAGE_DOMAINS.length === 0 || env.FRONTAGE_EDGE_ADDRESSES.length > 0;
const noEdgeAddresses = { path: ['FRONTAGE_EDGE_ADDRESSES'], message: 'are needed where FRONTAGE_DOMAINS has a mode' };
const noPhotosKey = { path: ['FRONTAGE_PEXELS_KEY'], message: 'is needed where FRONTAGE_PHOTOS is pexels' };

const hasPaymentsKey = (env: z.output<typeof schema>) =>
  !env.FRONTAGE_PAYOUT_RAILS.includes('connect') || env.FRONTAGE_PAYMENTS_KEY !== '';
const noPaymentsKey = {
  path: ['FRONTAGE_PAYMENTS_KEY'],
  message: 'is needed where FRONTAGE_PAYOUT_RAILS names connect',
};
const hasTerms = (env: z.output<typeof schema>) => env.FRONTAGE_ACME_URL === '' || env.FRONTAGE_ACME_TERMS === 'agreed';
const noTerms = {
  path: ['FRONTAGE_ACME_TERMS'],
  message: 'is to be `agreed` where FRONTAGE_ACME_URL names an authority',
};

export type Config = ReturnType<typeof readConfig>;

/** Reads and checks the environment. Throws one Error that names every faulty variable. */
export function readConfig(given: NodeJS.ProcessEnv = process.env) {
  const { env, faults: unread } = withFiles(given);
  const parsed = schema
    .refine(hasPhotosKey, noPhotosKey)
    .refine(hasPaymentsKey, noPaymentsKey)
    .refine(hasZones, noZones)
    .refine(hasEdgeAddresses, noEdgeAddresses)
    .refine(hasTerms, noTerms)
    .safeParse(env);
  const catalog = readPlans(env.FRONTAGE_PLANS || ownCatalog);
  const faults = [
    ...unread,
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...faultsOfCatalog(catalog, env.FRONTAGE_PLAN),
  ];
  if (!parsed.success || 'faults' in catalog || faults.length > 0) {
    throw new Error(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
  const e = parsed.data;
  const { plans } = catalog;
  const s3Server = s3ServerOf(e.FRONTAGE_S3_ENDPOINT, e.FRONTAGE_S3_REGION, e.FRONTAGE_S3_KEY_ID, e.FRONTAGE_S3_SECRET);
  const hasBackupServer = e.FRONTAGE_BACKUP_S3_ENDPOINT !== '' || e.FRONTAGE_BACKUP_S3_KEY_ID !== '';
  const repositories =
    e.FRONTAGE_REPOSITORIES === 'none' ? undefined : e.FRONTAGE_REPOSITORIES || `${e.FRONTAGE_DATA}/repositories`;
  return Object.freeze({
    dataDir: e.FRONTAGE_DATA,
    baseUrl: e.FRONTAGE_BASE_URL.origin,
    baseDomain: e.FRONTAGE_BASE_DOMAIN,
    edgeUrl: e.FRONTAGE_EDGE_URL.origin,
    api: { host: e.FRONTAGE_API_HOST, port: e.FRONTAGE_API_PORT },
    edge: {
      host: e.FRONTAGE_EDGE_HOST,
      port: e.FRONTAGE_EDGE_PORT,
      /** Absent where the edge speaks no TLS. */
      tlsPort: e.FRONTAGE_EDGE_TLS_PORT,
      processes: e.FRONTAGE_EDGE_PROCESSES,
      cacheBytes: e.FRONTAGE_EDGE_CACHE_BYTES,
      diskBytes: e.FRONTAGE_EDGE_DISK_BYTES,
      accessLog: e.FRONTAGE_EDGE_ACCESS_LOG === 'on',
      /** Whose connections begin with whom they are from; nobody's as a rule. */
      fronts: e.FRONTAGE_PROXY_PROTOCOL_FROM,
    },
    publicPorts: { http: e.FRONTAGE_PUBLIC_HTTP_PORT, tls: e.FRONTAGE_PUBLIC_TLS_PORT },
    /** Absent where no certificates are got. */
    acme: e.FRONTAGE_ACME_URL
      ? { directoryUrl: e.FRONTAGE_ACME_URL, email: e.FRONTAGE_ACME_EMAIL, trusts: e.FRONTAGE_ACME_CA }
      : undefined,
    databaseUrl: e.DATABASE_URL,
    temporal: { address: e.TEMPORAL_ADDRESS, namespace: e.TEMPORAL_NAMESPACE, uiUrl: e.TEMPORAL_UI_URL },
    queues: e.FRONTAGE_QUEUES,
    buildSlots: e.FRONTAGE_BUILD_SLOTS,
    warmSandboxes: e.FRONTAGE_WARM_SANDBOXES,
    sandbox: e.FRONTAGE_SANDBOX,
    dockerHost: e.DOCKER_HOST,
    repositoriesDir: repositories === undefined ? undefined : resolve(repositories),
    gitSlots: e.FRONTAGE_GIT_SLOTS,
    /** Absent where the store is in a bucket. */
    storeDir: e.FRONTAGE_STORE.startsWith('s3://')
      ? undefined
      : resolve(e.FRONTAGE_STORE || `${e.FRONTAGE_DATA}/store`),
    /** Absent where the store is a folder. */
    s3: e.FRONTAGE_STORE.startsWith('s3://') ? { ...bucketOf(e.FRONTAGE_STORE), ...s3Server } : undefined,
    /** The server behind the `s3://…` of backups: the store's, where none is named for them. */
    backupServer: hasBackupServer
      ? s3ServerOf(
          e.FRONTAGE_BACKUP_S3_ENDPOINT,
          e.FRONTAGE_BACKUP_S3_REGION,
          e.FRONTAGE_BACKUP_S3_KEY_ID,
          e.FRONTAGE_BACKUP_S3_SECRET,
        )
      : s3Server,
    files: e.FRONTAGE_FILES === 'on',
    sketches: e.FRONTAGE_SKETCHES === 'on',
    bookings: e.FRONTAGE_BOOKINGS === 'on',
    previews: e.FRONTAGE_PREVIEWS === 'on',
    analytics: e.FRONTAGE_ANALYTICS === 'on',
    domains: {
      modes: domainModes.filter((mode) => e.FRONTAGE_DOMAINS.includes(mode)),
      nameServers: e.FRONTAGE_NAMESERVERS || `ns.${e.FRONTAGE_BASE_DOMAIN}`,
      cnameTarget: e.FRONTAGE_CNAME_TARGET || `cname.${e.FRONTAGE_BASE_DOMAIN}`,
      edgeAddresses: e.FRONTAGE_EDGE_ADDRESSES,
      reserved: e.FRONTAGE_DOMAINS_RESERVED,
      endings: e.FRONTAGE_DOMAINS_ENDINGS,
      caaNames: e.FRONTAGE_CAA_NAMES,
    },
    dns: { resolvers: e.FRONTAGE_DNS_RESOLVERS, port: e.FRONTAGE_DNS_PORT },
    /** Absent where we hold no zones. */
    zones: e.FRONTAGE_ZONES_URL ? { url: e.FRONTAGE_ZONES_URL.origin, key: e.FRONTAGE_ZONES_KEY } : undefined,
    countryHeader: e.FRONTAGE_COUNTRY_HEADER,
    photos: e.FRONTAGE_PHOTOS,
    pexels: {
      key: e.FRONTAGE_PEXELS_KEY,
      url: e.FRONTAGE_PEXELS_URL.origin,
      fileHosts: e.FRONTAGE_PEXELS_FILE_HOSTS,
    },
    secret: e.FRONTAGE_SECRET,
    sealing: createEncryptionKeys(e.FRONTAGE_SECRET, e.FRONTAGE_SEALING_KEYS === 'none' ? [] : e.FRONTAGE_SEALING_KEYS),
    /** Whether there is a key for the keys of payout accounts. */
    sealsPayoutKeys: e.FRONTAGE_SEALING_KEYS !== 'none',
    /** Absent where no mail is sent. */
    mail: e.FRONTAGE_SMTP_URL
      ? { url: e.FRONTAGE_SMTP_URL, from: e.FRONTAGE_MAIL_FROM || `Frontage <hello@${e.FRONTAGE_BASE_URL.hostname}>` }
      : undefined,
    signUp: e.FRONTAGE_SIGNUP,
    emailSignIn: e.FRONTAGE_EMAIL_SIGNIN === 'on',
    /** Absent where no forms are taken. */
    challenge: e.FRONTAGE_CHALLENGE_KEY
      ? {
          kind: e.FRONTAGE_CHALLENGE,
          key: e.FRONTAGE_CHALLENGE_KEY,
          siteKey: e.FRONTAGE_CHALLENGE_SITE_KEY,
          url: e.FRONTAGE_CHALLENGE_URL.origin,
          rounds: e.FRONTAGE_CHALLENGE_ROUNDS,
        }
      : undefined,
    /** Absent where no money is taken for sites. */
    payouts:
      e.FRONTAGE_PAYOUT_RAILS.length > 0
        ? {
            rails: e.FRONTAGE_PAYOUT_RAILS,
            key: e.FRONTAGE_PAYMENTS_KEY,
            url: e.FRONTAGE_PAYMENTS_URL.origin,
            webhookSecret: e.FRONTAGE_PAYMENTS_WEBHOOK_SECRET,
          }
        : undefined,
    plans,
    plan: e.FRONTAGE_PLAN || (plans.at(-1) ?? plans[0]).name,
    /** Absent where nothing is metered. */
    billing: e.FRONTAGE_BILLING_KEY
      ? {
          key: e.FRONTAGE_BILLING_KEY,
          webhookSecret: e.FRONTAGE_BILLING_WEBHOOK_SECRET,
          url: e.FRONTAGE_BILLING_URL.origin,
          graceMs: e.FRONTAGE_BILLING_GRACE_DAYS * 86_400_000,
        }
      : undefined,
    rateScale: e.FRONTAGE_RATE_SCALE,
    trustedProxies: e.FRONTAGE_TRUSTED_PROXIES,
    ending: { drainMs: e.FRONTAGE_DRAIN_SECONDS * 1000, graceMs: e.FRONTAGE_GRACE_SECONDS * 1000 },
    /** Absent where no figures are told. */
    metrics:
      e.FRONTAGE_METRICS_PORT === undefined
        ? undefined
        : {
            host: e.FRONTAGE_METRICS_HOST,
            port: e.FRONTAGE_METRICS_PORT,
            temporalPort: e.FRONTAGE_METRICS_TEMPORAL_PORT,
          },
    /** Absent where no traces are told. */
    tracing: receiverOf(e),
    logLevel: e.FRONTAGE_LOG_LEVEL,
  });
}

/** A variable of ours may stand in a file, as a container is given its secrets: `FRONTAGE_SECRET_FILE` names that of `FRONTAGE_SECRET`. */
function withFiles(given: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; faults: string[] } {
  const env = { ...given };
  const faults: string[] = [];
  for (const name of Object.keys(schema.shape)) {
    const file = given[`${name}_FILE`];
    if (!file) continue;
    try {
      if (given[name] !== undefined) throw new Error(`stands beside ${name}: one of them says it`);
      env[name] = readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      faults.push(`${name}_FILE: ${(error as Error).message}`);
    }
  }
  return { env, faults };
}

/** OpenTelemetry's own rule: the endpoint of all signals has a path added to it, the one of traces has not. */
function receiverOf(e: z.output<typeof schema>) {
  const endpoint = e.OTEL_EXPORTER_OTLP_ENDPOINT;
  const all = endpoint && new URL(`${endpoint.pathname.replace(/\/$/, '')}/v1/traces`, endpoint);
  const receiver = e.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || all;
  if (!receiver || e.OTEL_SDK_DISABLED === 'true') return undefined;
  return {
    url: receiver.href,
    headers: e.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: e.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: e.OTEL_BSP_SCHEDULE_DELAY,
    serviceName: e.OTEL_SERVICE_NAME,
    resource: e.OTEL_RESOURCE_ATTRIBUTES,
    sampler: e.OTEL_TRACES_SAMPLER,
    samplerArg: e.OTEL_TRACES_SAMPLER_ARG,
  };
}

function s3ServerOf(endpoint: URL | '', region: string, accessKeyId: string, secretAccessKey: string) {
  return {
    endpoint: endpoint ? endpoint.href : undefined,
    region,
    credentials: accessKeyId ? { accessKeyId, secretAccessKey } : undefined,
  };
}

/** Of `s3://bucket/folder`; the folder becomes a prefix that is empty or ends with a slash. */
export function bucketOf(text: string): { bucket: string; prefix: string } {
  const [bucket = '', ...folders] = text.slice('s3://'.length).split('/').filter(Boolean);
  return { bucket, prefix: folders.map((folder) => `${folder}/`).join('') };
}

function faultsOfCatalog(catalog: ReturnType<typeof readPlans>, plan: string | undefined): string[] {
  if ('faults' in catalog) return catalog.faults.map((fault) => `FRONTAGE_PLANS: ${fault}`);
  const isKnown = !plan || catalog.plans.some(({ name }) => name === plan);
  return isKnown ? [] : [`FRONTAGE_PLAN: the catalog has no plan ${plan}`];
}

/** The host of a site of this name, as it is shown to people: without scheme and port. */
export function siteHostname({ baseDomain }: Pick<Config, 'baseDomain'>, name: string): string {
  return `${name}.${baseDomain}`;
}

/** The address visitors type for a site of this name. */
export function siteAddress(config: Config, name: string): string {
  const { protocol, port } = new URL(config.edgeUrl);
  return `${protocol}//${name}.${config.baseDomain}${port ? `:${port}` : ''}`;
}

/** The address of a site on an owner's domain: over TLS as soon as its certificate stands. */
export function domainAddress({ publicPorts }: Pick<Config, 'publicPorts'>, name: string, isOverTls: boolean): string {
  const [scheme, port, usual] = isOverTls ? ['https', publicPorts.tls, 443] : ['http', publicPorts.http, 80];
  return `${scheme}://${name}${port === usual ? '' : `:${port}`}`;
}
