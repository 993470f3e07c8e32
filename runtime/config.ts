/** The only reader of the environment. It reports all problems at once, and returns a frozen configuration. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ownCatalog, readPlans } from '#rules/plans.ts';
import { domainModes } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { bucketOf } from './buckets.ts';
import { createEncryptionKeys } from './encryption.ts';
import { requirements } from './settings/requirements.ts';
import { type Settings, settings } from './settings.ts';

const environment = settings.superRefine((values, check) => {
  for (const { setting, message, isMet } of requirements) {
    if (!isMet(values)) check.addIssue({ code: 'custom', path: [setting], message });
  }
});

export type Config = ReturnType<typeof readConfig>;

/** Reads and validates the environment. Throws one Error that names every invalid variable. */
export function readConfig(given: NodeJS.ProcessEnv = process.env) {
  const { env, faults: unread } = withFiles(given);
  const parsed = environment.safeParse(env);
  const catalog = readPlans(env.FRONTAGE_PLANS || ownCatalog);
  const faults = [
    ...unread,
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...faultsOfCatalog(catalog, env.FRONTAGE_PLAN),
  ];
  if (!parsed.success || 'faults' in catalog || faults.length > 0) {
    throw new Error(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
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
      /** Absent if the edge does not accept TLS. */
      tlsPort: e.FRONTAGE_EDGE_TLS_PORT,
      processes: e.FRONTAGE_EDGE_PROCESSES,
      cacheBytes: e.FRONTAGE_EDGE_CACHE_BYTES,
      diskBytes: e.FRONTAGE_EDGE_DISK_BYTES,
      accessLog: e.FRONTAGE_EDGE_ACCESS_LOG === 'on',
      /** Peers that send the PROXY protocol; usually none. */
      fronts: e.FRONTAGE_PROXY_PROTOCOL_FROM,
    },
    publicPorts: { http: e.FRONTAGE_PUBLIC_HTTP_PORT, tls: e.FRONTAGE_PUBLIC_TLS_PORT },
    /** Absent if no certificates are ordered. */
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
    /** Absent if the store is in a bucket. */
    storeDir: e.FRONTAGE_STORE.startsWith('s3://')
      ? undefined
      : resolve(e.FRONTAGE_STORE || `${e.FRONTAGE_DATA}/store`),
    /** Absent if the store is a folder. */
    s3: e.FRONTAGE_STORE.startsWith('s3://') ? { ...bucketOf(e.FRONTAGE_STORE), ...s3Server } : undefined,
    /** The server of `s3://…` backups. The default is the server of the store. */
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
    /** Absent if the platform hosts no zones. */
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
    /** Whether payout keys can be encrypted. */
    sealsPayoutKeys: e.FRONTAGE_SEALING_KEYS !== 'none',
    /** Absent if no mail is sent. */
    mail: e.FRONTAGE_SMTP_URL
      ? { url: e.FRONTAGE_SMTP_URL, from: e.FRONTAGE_MAIL_FROM || `Frontage <hello@${e.FRONTAGE_BASE_URL.hostname}>` }
      : undefined,
    signUp: e.FRONTAGE_SIGNUP,
    emailSignIn: e.FRONTAGE_EMAIL_SIGNIN === 'on',
    /** Absent if forms are disabled. */
    challenge: e.FRONTAGE_CHALLENGE_KEY
      ? {
          kind: e.FRONTAGE_CHALLENGE,
          key: e.FRONTAGE_CHALLENGE_KEY,
          siteKey: e.FRONTAGE_CHALLENGE_SITE_KEY,
          url: e.FRONTAGE_CHALLENGE_URL.origin,
          rounds: e.FRONTAGE_CHALLENGE_ROUNDS,
        }
      : undefined,
    /** Absent if sites cannot receive payments. */
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
    /** Absent if nothing is metered. */
    billing: e.FRONTAGE_BILLING_KEY
      ? {
          key: e.FRONTAGE_BILLING_KEY,
          webhookSecret: e.FRONTAGE_BILLING_WEBHOOK_SECRET,
          url: e.FRONTAGE_BILLING_URL.origin,
          graceMs: e.FRONTAGE_BILLING_GRACE_DAYS * dayMs,
        }
      : undefined,
    rateScale: e.FRONTAGE_RATE_SCALE,
    trustedProxies: e.FRONTAGE_TRUSTED_PROXIES,
    ending: { drainMs: e.FRONTAGE_DRAIN_SECONDS * 1000, graceMs: e.FRONTAGE_GRACE_SECONDS * 1000 },
    /** Absent if metrics are not served. */
    metrics:
      e.FRONTAGE_METRICS_PORT === undefined
        ? undefined
        : {
            host: e.FRONTAGE_METRICS_HOST,
            port: e.FRONTAGE_METRICS_PORT,
            temporalPort: e.FRONTAGE_METRICS_TEMPORAL_PORT,
          },
    /** Absent if tracing is off. */
    tracing: receiverOf(e),
    logLevel: e.FRONTAGE_LOG_LEVEL,
  });
}

/** Reads variables from files, as containers receive their secrets: `FRONTAGE_SECRET_FILE` is the file of `FRONTAGE_SECRET`. */
function withFiles(given: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; faults: string[] } {
  const env = { ...given };
  const faults: string[] = [];
  for (const name of Object.keys(settings.shape)) {
    const file = given[`${name}_FILE`];
    if (!file) continue;
    try {
      if (given[name] !== undefined) throw new Error(`is set together with ${name}: set only one of them`);
      env[name] = readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      faults.push(`${name}_FILE: ${(error as Error).message}`);
    }
  }
  return { env, faults };
}

/** OpenTelemetry's rule: a path is appended to the general endpoint, but not to the endpoint of traces. */
function receiverOf(e: Settings) {
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

function faultsOfCatalog(catalog: ReturnType<typeof readPlans>, plan: string | undefined): string[] {
  if ('faults' in catalog) return catalog.faults.map((fault) => `FRONTAGE_PLANS: ${fault}`);
  const isKnown = !plan || catalog.plans.some(({ name }) => name === plan);
  return isKnown ? [] : [`FRONTAGE_PLAN: the plan catalog has no plan named ${plan}`];
}
