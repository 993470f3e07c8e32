/**
 * The history of pushes. git moves the branches, outside every database transaction: each branch has a row from before it moves
 * until the history has its entry, and until it is published if it may be. The id of a row is the push and the branch; git writes the id of the push into the
 * reflog. The rows of a process that was killed in between are completed by the next sweep.
 */
import { textArray } from '#db/arrays.ts';
import { type ActedBy, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Address } from './access.ts';
import type { RefUpdate } from './push.ts';

type Row = {
  id: string;
  accepted_at: string;
  site_id: string;
  repository: Repository;
  branch: string;
  from_commit: string | null;
  to_commit: string;
  account_id: string;
  via_name: string | null;
  may_publish: boolean;
};

/** git has ended long before, also where the process that started it was killed. */
const abandonedMs = hourMs;

/** Writes a row for each branch that the push is about to move. Returns their ids. */
export async function addAcceptedPush(
  em: EntityManager,
  clock: Clock,
  { accountId, via }: ActedBy,
  { siteId, repository }: Address,
  { pushId, updates, mayPublish }: { pushId: string; updates: readonly RefUpdate[]; mayPublish: boolean },
): Promise<string[]> {
  const columns =
    'id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id, via_name, may_publish';
  const rows = updates.flatMap(({ ref, from, to }) => {
    const branch = ref.replace(/^refs\/heads\//, '');
    const at = clock.now();
    return to === null
      ? []
      : [[`${pushId} ${branch}`, at, siteId, repository, branch, from, to, accountId, via?.name ?? null, mayPublish]];
  });
  if (rows.length === 0) return [];
  const values = rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
  await em.execute(`insert into accepted_push (${columns}) values ${values}`, rows.flat());
  return rows.map(([id]) => id as string);
}

/** Locks the rows until the end of the transaction, so that no sweep completes them. */
export async function lockAcceptedPush(tx: EntityManager, ids: readonly string[]): Promise<void> {
  await readRows(tx, ids);
}

/**
 * Records the branches that the push has moved, and removes its rows. git may have refused some of the branches, or have
 * been killed.
 */
export async function completePush(
  tx: EntityManager,
  repositories: Repositories,
  ids: readonly string[],
): Promise<void> {
  for (const row of await readRows(tx, ids)) {
    await complete(tx, row, await wasPushed(repositories, row));
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
      const isMoved =
        row && (await wasPushed(repositories, row).catch((error: unknown) => void result.failures.push(error)));
      if (isMoved) result.recorded += 1;
      if (row && isMoved !== undefined && (isMoved || isAbandoned(row, clock))) await complete(tx, row, isMoved);
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

/** Whether this very push has moved the branch: another one may have moved it to the same commit, or further. */
function wasPushed(
  repositories: Repositories,
  { id, site_id: siteId, repository, branch, to_commit: to }: Row,
): Promise<boolean> {
  const [pushId = ''] = id.split(' ');
  return repositories.wasPushed(siteId, repository, branch, { pushId, to });
}

async function complete(tx: EntityManager, row: Row, isMoved: boolean): Promise<void> {
  const isToPublish = isMoved && row.may_publish && row.branch === 'main';
  const done = isToPublish ? 'update accepted_push set recorded = true' : 'delete from accepted_push';
  await tx.execute(`${done} where id = ?`, [row.id]);
  const site = isMoved ? await tx.findOne(Site, { id: row.site_id }) : null;
  if (!site) return;
  const { repository, branch, from_commit: from, to_commit: to } = row;
  const actor = { accountId: row.account_id, via: { kind: 'git', name: row.via_name } } as const;
  recordAct(tx, { now: () => acceptedAt(row) }, actor, 'repository.pushed', {
    site,
    subject: { id: site.id, name: repository },
    detail: { branch, from, to },
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

/** Publishes the recorded pushes that may be published: of one site, or of all. A push whose publish was interrupted comes again. */
export async function publishPushes(em: EntityManager, publish: PublishPush, siteId?: string): Promise<void> {
  const failures: unknown[] = [];
  const rows = await em.execute<Row[]>(
    'select * from accepted_push where recorded and (?::text is null or site_id = ?) order by id limit 500',
    [siteId ?? null, siteId ?? null],
  );
  for (const { id, site_id, repository, account_id: accountId, via_name: viaName } of rows) {
    const deploymentId = id.replace(/^hist_(\S+) .*$/, 'dep_$1');
    const isDone = await publish({ deploymentId, siteId: site_id, repository, accountId, viaName }).catch(
      (error: unknown) => void failures.push(error),
    );
    if (isDone) await em.execute('delete from accepted_push where id = ?', [id]);
  }
  if (failures.length > 0) throw failures[0];
}
