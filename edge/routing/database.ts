/** The three questions an edge asks the database. None of them is on the path of a request that it can answer from memory. */
import pg from 'pg';
import type { SiteStatus } from '#rules/states.ts';

export type SiteRow = {
  id: string;
  name: string;
  /** `blocked`: stopped by a person, whatever its owner says. */
  status: SiteStatus | 'blocked';
  /** Where the live version's manifest is; null as long as nothing was published. */
  manifestSha256: string | null;
  /** Where the redirect rules are that a call set; null where there are none. */
  redirectsSha256: string | null;
  /** Its drafts; absent where it has none. */
  previews?: PreviewRow[];
  /** Its owner's domains that it is served on; absent where there are none. */
  domains?: DomainRow[];
};

/** An attached domain. Times are milliseconds since 1970; null without a certificate. */
export type DomainRow = {
  name: string;
  status: 'active' | 'Moved' | 'pending';
  isPrimary: boolean;
  certifiedUntil: number | null;
  /** Since when visitors have had a certificate without a gap. */
  healthySince: number | null;
};

/** A draft in a preview slot: at which host, what of, and until when (RFC 3339). */
export type PreviewRow = { label: string; slot: number; manifestSha256: string; expiresAt: string };

export type SiteChanges = {
  /** Where to go on from at the next question. */
  mark: string;
  /** Which start of which server answered: a mark says nothing to another one. */
  server: string;
  sites: SiteRow[];
};

/** What a host of a sketch shows: a direction, or at position 0 all of them together. */
export type SketchRow = {
  title: string;
  position: number;
  sha256: string | null;
  /** Whether its account was stopped by a person. */
  blocked: boolean;
  /** The host of the page that shows all. */
  overview: string;
  directions: { name: string; note: string | null; label: string }[];
};

export type EdgeDatabase = {
  /** What is shown at these hosts of sketches, as long as it is; a host that shows nothing is absent. */
  sketchesAt(labels: string[]): Promise<Map<string, SketchRow>>;
  /** All sites. */
  allSites(): Promise<SiteChanges>;
  /** Sites that may have changed since the question that answered `mark`; some may come twice, none is left out. */
  sitesChangedSince(mark: string): Promise<SiteChanges>;
  /** Manifests of all versions of the site that visitors can have seen after `since`, newest first. */
  manifestsSeenSince(siteId: string, since: Date): Promise<string[]>;
  close(): Promise<void>;
};

// Commits come in another order than numbers are given out. What was not visible at the last question was written by a
// transaction not older than the oldest that was running then: that one is the mark.
const sitesSql = `
  select mark.xid::text as mark, extract(epoch from pg_postmaster_start_time())::text as server, site.id, site.name,
    case when site.blocked_at is null and site.owner_blocked_at is null then site.status else 'blocked' end as status, deployment.manifest_sha256 as "manifestSha256",
    site.redirects_sha256 as "redirectsSha256",
    (select json_agg(json_build_object('label', preview.label, 'slot', preview.slot, 'manifestSha256', draft.manifest_sha256,
       'expiresAt', preview.expires_at) order by preview.slot)
     from preview join deployment draft on draft.id = preview.deployment_id
     where preview.site_id = site.id and preview.removed_at is null) as previews,
    (select json_agg(json_build_object('name', domain.name, 'status', domain.status, 'isPrimary', domain.is_primary,
       'certifiedUntil', floor(extract(epoch from certificate.not_after) * 1000),
       'healthySince', floor(extract(epoch from certificate.healthy_since) * 1000)) order by domain.name)
     from domain left join certificate on certificate.domain_id = domain.id
     where domain.site_id = site.id and domain.removed_at is null and domain.status not in ('Deleted', 'Blocked')) as domains
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join site on %condition
  left join deployment on deployment.id = site.live_deployment_id`;

// A version counts from the moment it went live to the moment the next one did.
const manifestsSql = `
  select manifest_sha256 as "manifestSha256" from deployment
  where site_id = $1 and status <> 'failed' and manifest_sha256 is not null and live_at >= coalesce(
    (select max(live_at) from deployment where site_id = $1 and status <> 'failed' and live_at <= $2), $2)
  order by live_at desc limit 200`;

const sketchSql = `
  select host.label, sketch.title, host.position, host.sha256, overview.label as overview,
    (select blocked_at is not null from account where id = sketch.account_id) as blocked,
    (select json_agg(json_build_object('name', name, 'note', note, 'label', label) order by position)
     from sketch_host where sketch_id = sketch.id and position > 0) as directions
  from sketch_host host
  join sketch on sketch.id = host.sketch_id and sketch.status = 'shown'
  join sketch_host overview on overview.sketch_id = sketch.id and overview.position = 0
  where host.label = any($1)`;

const patienceMs = 2_000;
const wholePatienceMs = 30_000;

export function openEdgeDatabase(databaseUrl: string): EdgeDatabase {
  // One each, so that visitors' misses never stand in the way of pointer changes.
  const forSites = openConnection(databaseUrl);
  const forAssets = openConnection(databaseUrl);
  const forSketches = openConnection(databaseUrl);

  async function askSites(condition: string, values: unknown[], timeoutMs: number): Promise<SiteChanges> {
    const { rows } = await forSites.query({
      text: sitesSql.replace('%condition', condition),
      values,
      query_timeout: timeoutMs,
    } as pg.QueryConfig);
    const sites = rows.filter((row) => row.id !== null);
    return {
      mark: rows[0].mark,
      server: rows[0].server,
      sites: sites.map(({ mark: _, server: __, previews, domains, ...site }) => ({
        ...site,
        ...(previews ? { previews } : {}),
        ...(domains ? { domains } : {}),
      })),
    };
  }

  return {
    allSites: () => askSites('true', [], wholePatienceMs),
    sitesChangedSince: (mark) => askSites('site.changed_xid >= $1::xid8', [mark], patienceMs),
    async manifestsSeenSince(siteId, since) {
      const question = { text: manifestsSql, values: [siteId, since], query_timeout: patienceMs } as pg.QueryConfig;
      const { rows } = await forAssets.query<{ manifestSha256: string }>(question);
      return rows.map((row) => row.manifestSha256);
    },
    async sketchesAt(labels) {
      const question = { text: sketchSql, values: [labels], query_timeout: patienceMs } as pg.QueryConfig;
      const { rows } = await forSketches.query<SketchRow & { label: string }>(question);
      return new Map(rows.map(({ label, ...row }) => [label, row]));
    },
    async close() {
      await Promise.all([forSites.end(), forAssets.end(), forSketches.end()]);
    },
  };
}

/** One connection, opened when it is first needed. */
export function openConnection(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'frontage edge',
    max: 1,
    keepAlive: true,
    connectionTimeoutMillis: patienceMs,
  });
  // The next question opens a new connection, and says what is wrong.
  pool.on('error', () => {});
  return pool;
}
