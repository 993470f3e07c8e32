/**
 * The history of pushes, of updates and clears of previews and of commits by calls. git moves the branches, outside every
 * database transaction: each branch has a row from before it moves until the history has its entry, and until it is published if
 * it may be. The id of a row is the push or the call, and the branch; git writes the former into the reflog. The rows of
 * a process that was killed in between are completed by the next sweep.
 */
import { textArray } from '#db/arrays.ts';
import { recordCommit } from '#db/history/commits.ts';
import { type ActedBy, person, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Branch, BranchMove, Repositories } from '#providers/repositories.ts';
import type { Via } from '#rules/history.ts';
import type { AssetSource, Repository } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Address } from './access.ts';
import { completeClear } from './planned-clears.ts';
import type { RefUpdate } from './push.ts';

type Row = {
  id: string;
  accepted_at: string;
  site_id: string;
  repository: Repository;
  branch: Branch;
  from_commit: string | null;
  to_commit: string;
  account_id: string;
  via_kind: Via['kind'];
  via_name: string | null;
  may_publish: boolean;
  /** Of a commit by a call, as is `files_changed`. */
  source: AssetSource | null;
  files_changed: number | null;
  /** Of a clear of a preview slot, which removes the branch. */
  discarded: boolean | null;
};

type PlannedCommit = {
  siteId: string;
  repository: Repository;
  branch: Branch;
  by: ActedBy;
  source: AssetSource;
  filesChanged: number;
};

/** git has ended long before, also where the process that started it was killed. */
const abandonedMs = hourMs;

/** Writes a row for each branch that the push is about to move. Returns their ids. */
export async function addAcceptedPush(
  em: EntityManager,
  clock: Clock,
  by: ActedBy,
  { siteId, repository }: Address,
  { pushId, updates, mayPublish }: { pushId: string; updates: readonly RefUpdate[]; mayPublish: boolean },
): Promise<string[]> {
  const moves = updates.map(({ ref, from, to }) => {
    const branch = ref.replace(/^refs\/heads\//, '');
    return { pushId, repository, branch, from, to };
  });
  return await addMoves(em, clock, by, { siteId, moves, mayPublish });
}

type Marked = Omit<BranchMove, 'branch'> & { branch: string; pushId: string };

/** Writes a row for each branch that a push or the update of a preview is about to move. Returns their ids. */
export async function addMoves(
  em: EntityManager,
  clock: Clock,
  { accountId, via: { kind, name } = person }: ActedBy,
  { siteId, moves, mayPublish = false }: { siteId: string; moves: readonly Marked[]; mayPublish?: boolean },
): Promise<string[]> {
  const columns =
    'id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id, via_kind, via_name, may_publish';
  const at = clock.now();
  const rows = moves
    .filter(({ to }) => to !== null)
    .map(({ pushId, repository, branch, from, to }) => {
      return [`${pushId} ${branch}`, at, siteId, repository, branch, from, to, accountId, kind, name, mayPublish];
    });
  if (rows.length === 0) return [];
  const values = rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
  await em.execute(`insert into accepted_push (${columns}) values ${values}`, rows.flat());
  return rows.map(([id]) => id as string);
}

/** The row of a commit by a call. */
export const rowOfCall = (callId: string, branch: Branch): string => `${callId} ${branch}`;

/** Writes a row for the commit that a call is about to make. A call that is sent again replaces its own. */
export async function addPlannedCommit(
  em: EntityManager,
  clock: Clock,
  callId: string,
  { siteId, repository, branch, by, source, filesChanged }: PlannedCommit,
): Promise<string> {
  const { kind, name } = by.via ?? person;
  const id = rowOfCall(callId, branch);
  await em.execute(
    `insert into accepted_push (id, accepted_at, site_id, repository, branch, to_commit, account_id, via_kind, via_name, source, files_changed)
     values (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?)
     on conflict (id) do update set accepted_at = excluded.accepted_at, files_changed = excluded.files_changed`,
    [id, clock.now(), siteId, repository, branch, by.accountId, kind, name, source, filesChanged],
  );
  return id;
}

/** Removes the rows of branches whose moves this transaction records, or that were not moved. */
export async function removeRows(tx: EntityManager, ids: readonly string[]): Promise<void> {
  await tx.execute('delete from accepted_push where id = any(?::text[])', [textArray(ids)]);
}

/** Locks the rows until the end of the transaction, so that no sweep completes them. */
export async function lockAcceptedPush(tx: EntityManager, ids: readonly string[]): Promise<void> {
  await readRows(tx, ids);
}

/**
 * Records the branches that the push or the call has moved, and removes its rows. git may have refused some of the branches, or
 * have been killed.
 */
export async function completePush(
  tx: EntityManager,
  repositories: Repositories,
  ids: readonly string[],
): Promise<void> {
  for (const row of await readRows(tx, ids)) {
    await complete(tx, row, await movedTo(repositories, row));
  }
}

const readRows = (tx: EntityManager, ids: readonly string[]): Promise<Row[]> =>
  tx.execute<Row[]>('select * from accepted_push where id = any(?::text[]) order by id for update', [textArray(ids)]);

/**
 * Completes the pushes of processes that were killed, or lost their connection, after git had moved a branch. With a
 * site, only those of that site. Returns how many it has recorded.
 */
export async function completeAbandonedPushes(
  em: EntityManager,
  clock: Clock,
  repositories: Repositories,
  siteId?: string,
): Promise<number> {
  const result = { recorded: 0, failures: [] as unknown[] };
  for (let after = ''; ; ) {
    const last = await em.transactional(async (tx) => {
      // Locked rows are those of a push that is running.
      const [row] = await tx.execute<Row[]>(
        `select * from accepted_push where id > ? and not recorded and (?::text is null or site_id = ?)
         order by id limit 1 for update skip locked`,
        [after, siteId ?? null, siteId ?? null],
      );
      // A repository that cannot be read keeps no other from being completed.
      const commit =
        row && (await movedTo(repositories, row).catch((error: unknown) => void result.failures.push(error)));
      if (commit) result.recorded += 1;
      if (row && commit !== undefined && (commit || isAbandoned(row, clock))) await complete(tx, row, commit);
      return row?.id;
    });
    if (last === undefined) break;
    after = last;
  }
  if (result.failures.length > 0) throw result.failures[0];
  return result.recorded;
}

const isAbandoned = (row: Row, clock: Clock) => acceptedAt(row).getTime() < clock.now().getTime() - abandonedMs;

const acceptedAt = ({ accepted_at: at }: Row) => new Date(at);

/**
 * The commit to which this very push or call has moved the branch, or from which it has removed it; null if it has not:
 * another one may have moved it to the same commit, or further.
 */
async function movedTo(
  repositories: Repositories,
  { id, site_id: siteId, repository, branch, from_commit: from, to_commit: to, source, discarded }: Row,
): Promise<string | null> {
  if (discarded !== null)
    return from && (await repositories.wasRemoved(siteId, repository, branch, from)) ? from : null;
  const [by = ''] = id.split(' ');
  if (source) return (await repositories.madeByCall(siteId, repository, branch, by))?.commit ?? null;
  return (await repositories.wasPushed(siteId, repository, branch, { pushId: by, to })) ? to : null;
}

async function complete(tx: EntityManager, row: Row, commit: string | null): Promise<void> {
  const isToPublish = commit !== null && row.may_publish && row.branch === 'main';
  if (isToPublish) await tx.execute('update accepted_push set recorded = true where id = ?', [row.id]);
  else await removeRows(tx, [row.id]);
  const site = commit === null ? null : await tx.findOne(Site, { id: row.site_id });
  if (!site || commit === null) return;
  const { repository, branch, from_commit: from, source, files_changed: filesChanged, discarded } = row;
  const clock = { now: () => acceptedAt(row) };
  const by = { accountId: row.account_id, via: { kind: row.via_kind, name: row.via_name } };
  if (discarded !== null) return await completeClear(tx, clock, { siteId: site.id, branch, by, discarded });
  if (source) {
    recordCommit(tx, clock, { site, repository, branch, by, source, commit, filesChanged: filesChanged ?? 0 });
    return;
  }
  recordAct(tx, clock, by, row.via_kind === 'git' ? 'repository.pushed' : 'repository.merged', {
    site,
    subject: { id: site.id, name: repository },
    detail: { branch, from, to: commit },
  });
}

/** A push to main that the history has. `deploymentId` is the same however often this push is published. */
export type RecordedPush = Pick<Row, 'repository'> & {
  deploymentId: string;
  siteId: string;
  accountId: string;
  viaName: string | null;
};

/** Publishes a push if its site does so. False: later again. */
export type PublishPush = (push: RecordedPush) => Promise<boolean>;

const pushesAtOnce = 500;
/**
 * Publishes the recorded pushes that may be published: of one site, or of all. A push whose publish was interrupted comes
 * again. A repository whose push has to wait is not tried again in this run, however many of its pushes wait.
 */
export async function publishPushes(em: EntityManager, publish: PublishPush, siteId?: string): Promise<void> {
  const failures: unknown[] = [];
  const waiting = new Set<string>();
  let rows: Row[];
  let after = '';
  do {
    rows = await em.execute<Row[]>(
      'select * from accepted_push where id > ? and recorded and (?::text is null or site_id = ?) order by id limit ?',
      [after, siteId ?? null, siteId ?? null, pushesAtOnce],
    );
    for (const { id, site_id, repository, account_id: accountId, via_name: viaName } of rows) {
      after = id;
      const place = `${site_id} ${repository}`;
      if (waiting.has(place)) continue;
      const deploymentId = id.replace(/^hist_(\S+) .*$/, 'dep_$1');
      const isDone = await publish({ deploymentId, siteId: site_id, repository, accountId, viaName }).catch(
        (error: unknown) => void failures.push(error),
      );
      if (isDone) await em.execute('delete from accepted_push where id = ?', [id]);
      else waiting.add(place);
    }
  } while (rows.length === pushesAtOnce);
  if (failures.length > 0) throw failures[0];
}
