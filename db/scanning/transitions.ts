/** Flags of scans: creating them, starting scans, and the operator's decisions. */

import { sqlList } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { counted } from '#rules/counted.ts';
import { shownStatuses } from '#rules/states.ts';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { Flag, type FlagKind } from './flag.ts';

/** Per site or sketch. */
const openMax = 100;
const lookedAtMax = 50;
const overdueMs = 5 * minuteMs;
const restartedMax = 100;

type Scanned = { id: string; scannedAt?: Date | null | undefined };

/**
 * Starts the scan of a version that goes live or becomes a draft, or of a sketch, when the transaction commits; not of
 * one that was scanned.
 */
export function startScan(tx: EntityManager, clock: Clock, { id, scannedAt }: Scanned, site?: string): void {
  if (scannedAt) return;
  startWorkflow(tx, clock, 'scanContent', { id }, { summary: 'Scan published files for abuse', site });
}

type Unscanned = { id: string; site: string | null };

/** Versions that have been shown for minutes without a scan: their workflow may be lost. */
export async function overdueScans(em: EntityManager, clock: Clock): Promise<Unscanned[]> {
  const before = new Date(clock.now().getTime() - overdueMs);
  return await em.execute<Unscanned[]>(
    `(select id, site_id as site from deployment where scanned_at is null and manifest_sha256 is not null
       and status in ${sqlList(shownStatuses)} and finished_at < ? order by finished_at limit ${restartedMax})
     union all
     (select id, null from sketch where scanned_at is null and status = 'shown' and created_at < ? order by created_at limit ${restartedMax})`,
    [before, before],
  );
}

/** Starts the scan of each; running ones are unaffected. */
export async function restartScans(em: EntityManager, clock: Clock, scans: readonly Unscanned[]): Promise<void> {
  await em.transactional(async (tx) => {
    for (const { id, site } of scans) startScan(tx, clock, { id }, site ?? undefined);
  });
}

export type Found = { path: string; sha256: string; kind: FlagKind; excerpt: string };
type Subject = { site: string; deployment: string | null } | { sketch: string };

/**
 * Records what a scan found. A flag of the same file and kind gets the newer bytes and is open again, unless the
 * operator dismissed these bytes. `of`: the hash of the scanned version.
 */
export async function raiseFlags(
  tx: EntityManager,
  clock: Clock,
  { of, ...subject }: Subject & { of: string },
  found: readonly Found[],
): Promise<void> {
  const [site, sketch, deployment] =
    'site' in subject ? [subject.site, null, subject.deployment] : [null, subject.sketch, null];
  const open = await tx.execute<Pick<Found, 'path' | 'kind'>[]>(
    'select path, kind from flag where coalesce(site_id, sketch_id) = ? and sha256 <> all (dismissed)',
    [site ?? sketch],
  );
  for (const { path, sha256, kind, excerpt } of mostSevere(open, found, of)) {
    await tx.execute(
      `insert into flag (id, site_id, sketch_id, deployment_id, path, kind, sha256, excerpt, found_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (site_id, sketch_id, path, kind) do update set sha256 = excluded.sha256, excerpt = excluded.excerpt,
         deployment_id = excluded.deployment_id, found_at = excluded.found_at where flag.sha256 <> excluded.sha256`,
      [newId('flag'), site, sketch, deployment, path, kind, sha256, excerpt, clock.now()],
    );
  }
}

/**
 * Flags redirects that a call set, by the hash of all rules: they act at once, under each version. No file has their
 * path.
 */
export async function raiseForRules(
  tx: EntityManager,
  clock: Clock,
  of: { site: string; sha256: string; excerpt: string },
) {
  const { site, sha256 } = of;
  const found: Found = { path: '/redirects', sha256, kind: 'redirect', excerpt: of.excerpt.replace(/\p{C}/gu, '·') };
  await raiseFlags(tx, clock, { site, deployment: null, of: sha256 }, [found]);
}

/** By severity. Findings that are easy to produce by the hundred come last, so that they hide nothing. */
const severity: readonly FlagKind[] = [
  'wallet_drainer',
  'password_form',
  'password_sent',
  'seed_phrase',
  'brand_signin',
  'redirect',
  'unread',
];
const rankOf = ({ kind }: Pick<Found, 'kind'>) => severity.indexOf(kind);

/** The path of findings about a whole version; no file has it. */
const wholePath = '/';
/** For a version or sketch that was not scanned at all. */
export const unscanned = (of: string): Found => {
  return {
    path: wholePath,
    sha256: of,
    kind: 'unread',
    excerpt: 'could not be scanned after several attempts',
  };
};

/** The flags that are already open, and the most severe of the others up to the maximum. */
function mostSevere(open: readonly Pick<Found, 'path' | 'kind'>[], found: readonly Found[], of: string): Found[] {
  const nameOf = ({ path, kind }: Pick<Found, 'path' | 'kind'>) => `${kind} ${path}`;
  const names = new Set(open.map(nameOf));
  const ranks = open.filter(({ path }) => path !== wholePath).map(rankOf);
  const sorted = found.toSorted((a, b) => rankOf(a) - rankOf(b));
  const raised = sorted.filter((one) => {
    if (names.has(nameOf(one)) || one.path === wholePath) return true;
    if (ranks.filter((rank) => rank <= rankOf(one)).length >= openMax) return false;
    ranks.push(rankOf(one));
    return true;
  });
  const more = found.length - raised.length;
  if (more === 0) return raised;
  const excerpt = `${counted(more, 'more finding')} not flagged individually: inspect the site`;
  return [...raised, { path: wholePath, sha256: of, kind: 'unread', excerpt }];
}

type Which = { all: boolean; site?: string | undefined; after?: string | undefined; limit: number };

/** Open flags, oldest first; with `all`, dismissed ones too. */
export async function listFlags(em: EntityManager, { all, site, after = '', limit }: Which) {
  const where = '(? or sha256 <> all (dismissed)) and (? or flag.site_id = ?) and flag.id > ? order by flag.id limit ?';
  return await rowsOf(em, where, [all, site === undefined, site ?? '', after, limit]);
}

async function rowsOf(em: EntityManager, where: string, values: unknown[]) {
  const rows = await em.execute<Listed[]>(
    `select flag.*, coalesce(site.account_id, sketch.account_id) as account, site.name as site_name, sha256 <> all (dismissed) as open,
       site.blocked_at is not null or site.owner_blocked_at is not null as blocked
     from flag left join site on site.id = flag.site_id left join sketch on sketch.id = flag.sketch_id
     where ${where}`,
    values,
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

/** All details of a flag. Throws `not_found`. */
export async function showFlag(em: EntityManager, id: string) {
  const flag = (await em.findOne(Flag, { id })) ?? noSuchFlag();
  const [of] = await rowsOf(em, 'flag.id = ?', [id]);
  const { deployment, sha256, dismissedAt, dismissedBecause } = flag;
  const last = { dismissed_at: dismissedAt ?? null, dismissed_because: dismissedBecause ?? null };
  return { ...of, deployment_id: deployment?.id ?? null, sha256, ...last };
}

/** Dismisses a flag: the same bytes are not flagged again. Throws `not_found`. */
export async function dismissFlag(em: EntityManager, clock: Clock, id: string, reason: string): Promise<Flag> {
  const flag = (await em.findOne(Flag, { id })) ?? noSuchFlag();
  const looked = [...flag.dismissed.filter((one) => one !== flag.sha256), flag.sha256].slice(-lookedAtMax);
  Object.assign(flag, { dismissed: looked, dismissedAt: clock.now(), dismissedBecause: reason });
  await em.flush();
  return flag;
}

function noSuchFlag(): never {
  throw errors.not_found('There is no flag with this id. Run flags list to list the open flags.');
}
