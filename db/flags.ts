/** What scans found, and a person of the platform should look at: rows, the start of scans, and what operators do with them. */
import type { Clock } from '../clock.ts';
import { errors } from '../errors.ts';
import { newId } from '../ids.ts';
import { workflowIds } from '../workflows/ids.ts';
import { Flag, type FlagKind } from './entities/flag.ts';
import type { EntityManager } from './orm.ts';
import { enqueue } from './outbox.ts';

/** Of one site or sketch: an operator has seen enough by then. */
const openMax = 100;
const listedMax = 200;
const lookedAtMax = 50;
const overdueMs = 5 * 60_000;
const restartedMax = 100;

type Scanned = { id: string; scannedAt?: Date | null | undefined };

/** Starts the scan of a version that comes to be shown, or of a sketch, when the transaction commits; of one that was scanned none. */
export function startScan(tx: EntityManager, clock: Clock, { id, scannedAt }: Scanned, site?: string): void {
  if (scannedAt) return;
  enqueue(tx, clock, {
    kind: 'start',
    workflowId: workflowIds.scanContent(id),
    message: {
      type: 'scanContent',
      mayRestart: true,
      input: { id },
      summary: 'Looks for what a person should look at',
      searchAttributes: { Resource: id, ...(site ? { SiteId: site } : {}) },
    },
  });
}

/** Starts the scans of what is shown for minutes and was not scanned: one that runs takes no notice. Answers how many. */
export async function restartScans(em: EntityManager, clock: Clock): Promise<number> {
  const before = new Date(clock.now().getTime() - overdueMs);
  return await em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string; site: string | null }[]>(
      `(select id, site_id as site from deployment where scanned_at is null and manifest_sha256 is not null
         and status in ('live', 'ready') and finished_at < ? order by finished_at limit ${restartedMax})
       union all
       (select id, null from sketch where scanned_at is null and status = 'shown' and created_at < ? order by created_at limit ${restartedMax})`,
      [before, before],
    );
    for (const { id, site } of rows) startScan(tx, clock, { id }, site ?? undefined);
    return rows.length;
  });
}

export type Found = { path: string; sha256: string; kind: FlagKind; excerpt: string };
type Subject = { site: string; deployment: string } | { sketch: string };

/**
 * Writes down what a scan found. A flag of the same file and kind has the newer bytes from then on, and is open again, unless a person has
 * let just these be.
 */
export async function raiseFlags(
  tx: EntityManager,
  clock: Clock,
  subject: Subject,
  found: readonly Found[],
): Promise<void> {
  const [site, sketch, deployment] =
    'site' in subject ? [subject.site, null, subject.deployment] : [null, subject.sketch, null];
  const [row] = await tx.execute<[{ count: string }]>(
    'select count(*) as count from flag where coalesce(site_id, sketch_id) = ? and sha256 <> all (dismissed)',
    [site ?? sketch],
  );
  for (const { path, sha256, kind, excerpt } of found.slice(0, Math.max(0, openMax - Number(row.count)))) {
    await tx.execute(
      `insert into flag (id, site_id, sketch_id, deployment_id, path, kind, sha256, excerpt, found_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (site_id, sketch_id, path, kind) do update set sha256 = excluded.sha256, excerpt = excluded.excerpt,
         deployment_id = excluded.deployment_id, found_at = excluded.found_at where flag.sha256 <> excluded.sha256`,
      [newId('flag'), site, sketch, deployment, path, kind, sha256, excerpt, clock.now()],
    );
  }
}

/** Open ones, the oldest first; with `all`, those that were dismissed too. */
export async function listFlags(em: EntityManager, { all, site }: { all: boolean; site?: string | undefined }) {
  const rows = await em.execute<Listed[]>(
    `select flag.*, coalesce(site.account_id, sketch.account_id) as account, site.name as site_name, sha256 <> all (dismissed) as open,
       site.blocked_at is not null or site.owner_blocked_at is not null as blocked
     from flag left join site on site.id = flag.site_id left join sketch on sketch.id = flag.sketch_id
     where (? or sha256 <> all (dismissed)) and (? or flag.site_id = ?) order by found_at, flag.id limit ${listedMax}`,
    [all, site === undefined, site ?? ''],
  );
  return rows.map(listed);
}

type Listed = {
  id: string;
  kind: FlagKind;
  account: string;
  site_id: string | null;
  site_name: string | null;
  sketch_id: string | null;
  deployment_id: string | null;
  path: string;
  excerpt: string;
  sha256: string;
  found_at: string;
  open: boolean;
  blocked: boolean | null;
  dismissed_at: string | null;
  dismissed_because: string | null;
};

function listed({ id, kind, path, excerpt, open, ...row }: Listed) {
  return {
    id,
    kind,
    open,
    account_id: row.account,
    ...(row.site_id
      ? { site_id: row.site_id, site: row.site_name, blocked: row.blocked }
      : { sketch_id: row.sketch_id }),
    path,
    excerpt,
    found_at: new Date(row.found_at).toISOString(),
  };
}

/** All that is known of one. Throws `not_found`. */
export async function showFlag(em: EntityManager, id: string) {
  const flag = (await em.findOne(Flag, { id })) ?? noSuchFlag();
  const [of] = (await listFlags(em, { all: true, site: flag.site?.id })).filter((one) => one.id === id);
  const { deployment, sha256, dismissedAt, dismissedBecause } = flag;
  const last = { dismissed_at: dismissedAt ?? null, dismissed_because: dismissedBecause ?? null };
  return { ...of, deployment_id: deployment?.id ?? null, sha256, ...last };
}

/** A person has looked at the file and lets it be: the same bytes are not flagged again. Throws `not_found`. */
export async function dismissFlag(em: EntityManager, clock: Clock, id: string, reason: string): Promise<Flag> {
  const flag = (await em.findOne(Flag, { id })) ?? noSuchFlag();
  const looked = [...flag.dismissed.filter((one) => one !== flag.sha256), flag.sha256].slice(-lookedAtMax);
  Object.assign(flag, { dismissed: looked, dismissedAt: clock.now(), dismissedBecause: reason });
  await em.flush();
  return flag;
}

function noSuchFlag(): never {
  throw errors.not_found('There is no flag of that id. flags list shows those that are open.');
}
