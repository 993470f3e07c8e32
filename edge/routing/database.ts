/** The edge's queries for sites, previous manifests and sketches. Requests that memory can serve run none of them. */
import type pg from 'pg';
import { openPool } from '#edge/db-pool.ts';
import type { SiteStatus } from '#rules/states.ts';

export type SiteRow = {
  id: string;
  name: string;
  /** `blocked`: by an operator. */
  status: SiteStatus | 'blocked';
  /** Manifest of the live version; null if nothing was published. */
  manifestSha256: string | null;
  /** Redirect rules that were set by the API; null if none. */
  redirectsSha256: string | null;
  /** Its drafts; absent if it has none. */
  previews?: PreviewRow[];
  /** Its owner's domains; absent if there are none. */
  domains?: DomainRow[];
  /** Names that it had, whose hosts redirect; absent if there are none. */
  formerNames?: FormerNameRow[];
};

/** `until`: milliseconds since 1970. */
export type FormerNameRow = { name: string; until: number };

/** An attached domain. Times are milliseconds since 1970; null without a certificate. */
export type DomainRow = {
  name: string;
  status: 'active' | 'Moved' | 'pending';
  isPrimary: boolean;
  certifiedUntil: number | null;
  /** Since when it has had a valid certificate without a gap. */
  healthySince: number | null;
};

/** A draft in a preview slot: its host, manifest and expiry (RFC 3339). */
export type PreviewRow = { label: string; slot: number; manifestSha256: string; expiresAt: string };

export type SiteChanges = {
  /** Position for the next query. */
  mark: string;
  /** Identifies the database and the start of its server: a mark is only valid for the same ones. */
  server: string;
  sites: SiteRow[];
  /** Ids of sites that were deleted for good. */
  gone: string[];
  /** There are more than one answer has: only all sites tell. */
  isPartial?: true;
};

/** A sketch's host: one direction, or the overview at position 0. */
export type SketchRow = {
  title: string;
  position: number;
  sha256: string | null;
  /** Whether an operator blocked its account. */
  blocked: boolean;
  /** Host label of the overview. */
  overview: string;
  /** The position of the direction that was chosen. */
  chosen: number | null;
  directions: { name: string; note: string | null; label: string; position: number }[];
};

export type EdgeDatabase = {
  /** Shown sketches at these hosts; other hosts are absent. */
  sketchesAt(labels: string[]): Promise<Map<string, SketchRow>>;
  /** All sites in parts, among them what changes meanwhile. The position of each part is the one before the first. */
  allSites(): AsyncGenerator<SiteChanges>;
  /** Sites that may have changed since the query that returned `mark`; some may be repeated, none is missing. */
  sitesChangedSince(mark: string): Promise<SiteChanges>;
  /** Manifests of all versions that visitors may have seen after `since`, newest first. */
  manifestsSeenSince(siteId: string, since: Date): Promise<string[]>;
  close(): Promise<void>;
};

// Transactions commit in another order than their numbers. Any row that was not visible to the last query was written by a transaction
// not older than the oldest one running then: that one is the mark.
const sitesSql = (condition: string) => `
  select mark.xid::text as mark,
    concat_ws(' ', extract(epoch from pg_postmaster_start_time()), (select oid from pg_database where datname = current_database())) as server,
    site.id, site.purged_at is not null as gone, site.name,
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
     where domain.site_id = site.id and domain.removed_at is null and domain.status not in ('Deleted', 'Blocked')) as domains,
    (select json_agg(json_build_object('name', former.name, 'until', floor(extract(epoch from former.until) * 1000)) order by former.id)
     from former_name former where former.site_id = site.id and former.ended_at is null) as "formerNames"
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join site on ${condition}
  left join deployment on deployment.id = site.live_deployment_id`;

// A version was visible from when it went live until the next one did.
const manifestsSql = `
  select manifest_sha256 as "manifestSha256" from deployment
  where site_id = $1 and status <> 'failed' and manifest_sha256 is not null and live_at >= coalesce(
    (select max(live_at) from deployment where site_id = $1 and status <> 'failed' and live_at <= $2), $2)
  order by live_at desc limit 200`;

const sketchSql = `
  select host.label, sketch.title, host.position, host.sha256, sketch.chosen_position as chosen, overview.label as overview,
    (select blocked_at is not null from account where id = sketch.account_id) as blocked,
    (select json_agg(json_build_object('name', name, 'note', note, 'label', label, 'position', position) order by position)
     from sketch_host where sketch_id = sketch.id and position > 0) as directions
  from sketch_host host
  join sketch on sketch.id = host.sketch_id and sketch.status = 'shown'
  join sketch_host overview on overview.sketch_id = sketch.id and overview.position = 0
  where host.label = any($1)`;

const queryTimeoutMs = 2_000;
/** So many are answered within that time. More change while an edge is away for long, or when all sites do at once. */
const changesAtOnce = 5_000;
/** Of the first part of all sites. */
const allSitesTimeoutMs = 30_000;
const partOfAll = 1_000;
const partsBetweenChanges = 10;

export function openEdgeDatabase(databaseUrl: string, changesMax = changesAtOnce): EdgeDatabase {
  // One connection each, so that visitors' misses never delay pointer changes.
  const forSites = openPool(databaseUrl);
  const forAssets = openPool(databaseUrl);
  const forSketches = openPool(databaseUrl);

  async function askSites(client: pg.Pool | pg.PoolClient, sql: string, values: unknown[], timeoutMs = queryTimeoutMs) {
    const { rows } = await client.query({ text: sql, values, query_timeout: timeoutMs } as pg.QueryConfig);
    return rows as FoundSite[];
  }

  async function askChanges(client: pg.Pool | pg.PoolClient, mark: string): Promise<SiteChanges> {
    const sql = `${sitesSql('site.changed_xid >= $1::xid8')} limit ${changesMax + 1}`;
    const rows = await askSites(client, sql, [mark]);
    const changes = changesOf(rows, rows[0] as Position);
    return rows.length > changesMax ? { ...changes, isPartial: true } : changes;
  }

  /** A cursor, since one answer with a million sites would need gigabytes. */
  async function* readAllSites(): AsyncGenerator<SiteChanges> {
    const client = await forSites.connect();
    let isDone = false;
    try {
      await client.query('begin read only');
      // Before the cursor's snapshot: what is not in that has not changed before this mark.
      const [position] = (await askSites(client, sitesSql('false'), [])) as [FoundSite];
      await client.query(`declare every_site no scroll cursor for ${sitesSql('site.purged_at is null')}`);
      for (let part = 0; !isDone; part++) {
        const timeoutMs = part === 0 ? allSitesTimeoutMs : queryTimeoutMs;
        const rows = await askSites(client, `fetch ${partOfAll} from every_site`, [], timeoutMs);
        isDone = rows.length < partOfAll;
        yield changesOf(rows, position);
        // Publishes are seen meanwhile too.
        if (part % partsBetweenChanges === partsBetweenChanges - 1)
          yield { ...(await askChanges(client, position.mark)), mark: position.mark };
      }
      await client.query('rollback');
    } finally {
      client.release(!isDone);
    }
  }

  return {
    allSites: readAllSites,
    sitesChangedSince: (mark) => askChanges(forSites, mark),
    async manifestsSeenSince(siteId, since) {
      const question = { text: manifestsSql, values: [siteId, since], query_timeout: queryTimeoutMs } as pg.QueryConfig;
      const { rows } = await forAssets.query<{ manifestSha256: string }>(question);
      return rows.map((row) => row.manifestSha256);
    },
    async sketchesAt(labels) {
      const question = { text: sketchSql, values: [labels], query_timeout: queryTimeoutMs } as pg.QueryConfig;
      const { rows } = await forSketches.query<SketchRow & { label: string }>(question);
      return new Map(rows.map(({ label, ...row }) => [label, row]));
    },
    async close() {
      await Promise.all([forSites.end(), forAssets.end(), forSketches.end()]);
    },
  };
}

type Position = Pick<SiteChanges, 'mark' | 'server'>;

/** A row of a query for sites. Without any site there is one row, whose `id` is null. */
type FoundSite = Position & { gone: boolean } & Omit<SiteRow, 'id' | 'previews' | 'domains' | 'formerNames'> & {
    id: string | null;
    previews: PreviewRow[] | null;
    domains: DomainRow[] | null;
    formerNames: FormerNameRow[] | null;
  };

function changesOf(rows: FoundSite[], { mark, server }: Position): SiteChanges {
  const sites: SiteRow[] = [];
  const gone: string[] = [];
  for (const { mark: _, server: __, id, gone: isGone, previews, domains, formerNames, ...site } of rows) {
    if (id === null) continue;
    if (isGone) gone.push(id);
    else
      sites.push({
        id,
        ...site,
        ...(previews ? { previews } : {}),
        ...(domains ? { domains } : {}),
        ...(formerNames ? { formerNames } : {}),
      });
  }
  return { mark, server, sites, gone };
}
