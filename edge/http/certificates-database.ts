/** The edge's queries for TLS: certificates, their changes, session ticket keys, and challenge responses. */
import type pg from 'pg';
import { openPool } from '#edge/db-pool.ts';

export type CertificateRow = { id: string; chain: string; sealedKey: Buffer };

/** The platform's certificate, of the base domain and hosts below it. Milliseconds since 1970. */
export type OwnCertificate = { certifiedUntil: number; healthySince: number };

export type CertificateChanges = {
  mark: string;
  /** Identifies the start of the database server: a mark is only valid for the same one. */
  server: string;
  /** Names whose certificate may have changed. */
  names: string[];
  own: OwnCertificate | undefined;
};

export type ChallengeRow = { token: string; answer: string; name: string };

export type CertificatesDatabase = {
  /** The certificate of this name: one query by index. */
  certificateOf(name: string): Promise<CertificateRow | undefined>;
  /** Changes since the query that returned `mark`. The first call returns no names. */
  changedSince(mark: string | undefined): Promise<CertificateChanges>;
  /** The period's ticket key: the offered one, unless another process was first. */
  ticketKey(period: Date, offered: Buffer): Promise<Buffer>;
  /** The responses at these tokens (RFC 8555 section 8.3), by token. `name`: that of the certificate. */
  challengeResponses(tokens: string[]): Promise<Map<string, ChallengeRow>>;
  close(): Promise<void>;
};

const certificateSql = `
  select id, chain, sealed_key as "sealedKey" from certificate where name = $1 and chain is not null order by not_after desc limit 1`;

const changesSql = `
  select mark.xid::text as mark, extract(epoch from pg_postmaster_start_time())::text as server, certificate.name, certificate.domain_id is null as "isOwn", certificate.changed_xid >= $1::xid8 as "isNew",
    floor(extract(epoch from not_after) * 1000)::float8 as "certifiedUntil",
    floor(extract(epoch from healthy_since) * 1000)::float8 as "healthySince"
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join certificate on certificate.changed_xid >= $1::xid8 or certificate.domain_id is null`;
const afterAll = '18446744073709551615';

const ticketKeySql = `
  insert into ticket_key (period, sealed) values ($1, $2) on conflict (period) do update set period = excluded.period returning sealed`;

const challengeSql = `
  select token, answer, certificate.name from acme_token join certificate on certificate.id = certificate_id
  where token = any($1)`;

const queryTimeoutMs = 2_000;

export function openCertificatesDatabase(databaseUrl: string): CertificatesDatabase {
  // One connection each, so that requests for unknown names and tokens never delay changes.
  const forNames = openPool(databaseUrl);
  const forChanges = openPool(databaseUrl);
  const forTokens = openPool(databaseUrl);
  const ask = async (pool: pg.Pool, text: string, values: unknown[]) =>
    (await pool.query({ text, values, query_timeout: queryTimeoutMs } as pg.QueryConfig)).rows;

  return {
    certificateOf: async (name) => (await ask(forNames, certificateSql, [name]))[0],
    async changedSince(mark) {
      const rows = await ask(forChanges, changesSql, [mark ?? afterAll]);
      const own = rows.find((row) => row.isOwn && row.certifiedUntil !== null);
      return {
        mark: rows[0].mark,
        server: rows[0].server,
        names: rows.filter((row) => row.isNew).map((row) => row.name),
        own: own && { certifiedUntil: own.certifiedUntil, healthySince: own.healthySince },
      };
    },
    ticketKey: async (period, offered) => (await ask(forChanges, ticketKeySql, [period, offered]))[0].sealed,
    challengeResponses: async (tokens) =>
      new Map((await ask(forTokens, challengeSql, [tokens])).map((row) => [row.token, row])),
    async close() {
      await Promise.all([forNames.end(), forChanges.end(), forTokens.end()]);
    },
  };
}
