/** Writes to a site's source other than pushes: validated by the rules of a push, counted, and committed to `main`. */

import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { roleOf } from '#api/access.ts';
import { missing } from '#api/capabilities.ts';
import { Account } from '#db/accounts/account.ts';
import { Asset } from '#db/assets/asset.ts';
import type { ActedBy } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { isCounted } from '#git/rules/formats.ts';
import { type Rules, readPlatformFiles } from '#git/rules.ts';
import type { Author, Branch, Change, Repositories } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import type { AssetSource, Repository, Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { commitWithRecords, recorded } from './commit-records.ts';
import { editOf, type Files, type PlannedChange } from './content.ts';
import { type DailyQuota, openDailyQuota, requireDailyQuota } from './daily-quota.ts';
import { requireAllowed, requireTotals } from './validation.ts';
import { oneAtATime } from './write-lock.ts';

export type Write = {
  site: Site;
  repository: Repository;
  message: string;
  by: ActedBy;
  source: AssetSource;
  expectedHead?: string | undefined;
  /** `main` if absent. A slot's branch begins at `main`. */
  branch?: Branch | undefined;
  /** The id of a call that may be sent again; by default a new one. git writes it into the reflog. */
  callId?: string | undefined;
  /** Runs once, when this write has the lock: only one write of a process holds what it loads at a time. An error from it ends the write. */
  begin?(): Promise<void>;
  /** Writes further records of the commit, in the transaction that ends once git has it. An error from it ends the write. */
  record?(tx: EntityManager, changes: readonly PlannedChange[]): Promise<unknown>;
  /**
   * Plans the changes from what the branch contains; called again if that moved meanwhile. `ref` is the branch, if it
   * exists and is not `main`. An error ends the write.
   */
  plan(files: Files, ref: Branch | undefined): PlannedChange[] | Promise<PlannedChange[]>;
};

/** The commit that the branch points to now, and how many files changed. `changes` is the final plan. */
export type Written = { repository: Repository; commit: string; filesChanged: number; changes: PlannedChange[] };

const triesMax = 16;
const pauseMsMax = 60;

export function requireRepositories(deps: Pick<Deps, 'config' | 'repositories'>): Repositories {
  if (deps.repositories) return deps.repositories;
  throw missing(deps.config, 'repositories') ?? new Error('repositories are enabled but not available');
}

/** The rules of a site with its owner's limits; `by` is the caller's role. */
export function rulesFor(deps: Pick<Deps, 'clock' | 'config'>, site: Site, repository: Repository, by: Role): Rules {
  const { limits, lift } = planLimitsOf(deps.config, site, deps.clock.now(), by);
  return { repository, limits, lift, platform: readPlatformFiles() };
}

/**
 * Throws if a limit leaves no room for this file: the daily quota is used up, or the repository is full. Checked before bytes are
 * written, and again when they are committed.
 */
export async function requireSiteSize(
  em: EntityManager,
  deps: Deps,
  site: Site,
  { path, bytes, by }: { path: string; bytes: number; by: Role },
): Promise<void> {
  await requireDailyQuota(em, deps, site);
  const repositories = requireRepositories(deps);
  const head = await repositories.head(site.id, 'source');
  const files = head === null ? [] : await repositories.listTree(site.id, 'source', head);
  const others = files.filter((file) => file.path !== path);
  requireTotals(rulesFor(deps, site, 'source', by), [...others, { path, oid: '', mode: '100644', bytes }]);
}

/**
 * Writes one commit. If others write at the same time, also by git, it is planned and validated again on the new head. Throws
 * `stale_hash` when the head keeps moving for too long, `rate_limited` over the daily quota, and the codes of the rules of a push.
 */
export async function writeChanges(em: EntityManager, deps: Deps, write: Write): Promise<Written> {
  return await oneAtATime(`${write.site.id}:${write.repository}`, async () => {
    const allowance = openDailyQuota(em, deps, write.site, roleOf(write.site, write.by));
    const callId = write.callId ?? newId('hist');
    let counted = 0;
    try {
      await write.begin?.();
      for (let tries = 0; tries < triesMax; tries++) {
        if (tries > 0) await pause(randomInt(pauseMsMax));
        const written = await tryWrite(em, deps, { ...write, callId }, allowance);
        if (!written) continue;
        counted = written.counted;
        return written;
      }
    } finally {
      await allowance.settle(counted);
    }
    throw errors.stale_hash('Other changes are being made to this repository at the moment.', {
      nextAction: 'Send the same request again.',
    });
  });
}

/** Undefined when the head moved meanwhile. */
async function tryWrite(
  em: EntityManager,
  deps: Deps,
  write: Write & { callId: string },
  allowance: DailyQuota,
): Promise<(Written & { counted: number }) | undefined> {
  const { site, repository, message, by: actor, source, expectedHead, branch = 'main', callId, plan } = write;
  const repositories = requireRepositories(deps);
  const { tip, parent, files } = await readBranch(repositories, site, repository, branch);
  const ref = tip === null || branch === 'main' ? undefined : branch;
  const changes = await plan(files, ref);
  const effective = changes.filter(({ path, content }) => files.get(path)?.oid !== content?.oid);
  if (parent !== null && effective.length === 0) {
    return { repository, commit: parent, filesChanged: 0, changes, counted: 0 };
  }
  if (expectedHead !== undefined && expectedHead !== parent) throw stale(site.id, branch, { ref, head: parent });
  const edits = effective.map(({ path, content }) => editOf(path, content, files.get(path)));
  const by = roleOf(site, actor);
  await requireAllowed(rulesFor(deps, site, repository, by), files, edits);
  const arriving = effective.filter(({ path, content }) => content !== null && isCounted(repository, path));
  await allowance.reserve(arriving.length);
  const rows = await recorded(deps, writeRows(em, deps, site.id, source, arriving));
  const written = { message, at: deps.clock.now(), changes: edits.map(({ change }) => change), callId };
  const author = authorOf(await em.findOneOrFail(Account, actor.accountId), actor);
  const commit = await commitWithRecords(em, deps, write, effective, () =>
    commitOn(repositories, { site, repository, branch, tip, parent }, { ...written, author }),
  );
  if (commit === null) {
    await em.nativeDelete(Asset, { id: { $in: rows } });
    return undefined;
  }
  return { repository, commit, filesChanged: effective.length, changes, counted: arriving.length };
}

/** The files of a branch; those of `main` if it does not exist yet. */
async function readBranch(repositories: Repositories, { id }: Site, repository: Repository, branch: Branch) {
  const tip = await repositories.head(id, repository, branch);
  const parent = tip ?? (await repositories.head(id, repository));
  const found = parent === null ? [] : await repositories.listTree(id, repository, parent);
  const files: Files = new Map(found.map((file) => [file.path, file]));
  return { tip, parent, files };
}

type Place = { site: Site; repository: Repository; branch: Branch; tip: string | null; parent: string | null };

/** Commits to the branch, which is created at `parent` if it has no tip. Null when it moved meanwhile. */
async function commitOn(
  repositories: Repositories,
  { site, repository, branch, tip, parent }: Place,
  commit: { message: string; author: Author; at: Date; changes: Change[]; callId: string },
): Promise<string | null> {
  if (tip === null && parent !== null) {
    const isCreated = await repositories.move(site.id, [{ repository, branch, from: null, to: parent }]);
    if (!isCreated) return null;
  }
  return await repositories.commit(site.id, repository, { ...commit, branch, parent });
}

/** The author of a commit by a call: the program whose token it is, and its account as the committer. */
export function authorOf({ name, email }: Pick<Account, 'name' | 'email'>, { via }: ActedBy): Author {
  const account = { name, email };
  return via?.name ? { name: via.name, email, committer: account } : account;
}

/** Runs before the commit, so that no commit lacks its row; a row without a commit is invisible. Returns the new ids. */
export async function writeRows(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  siteId: string,
  source: AssetSource,
  files: readonly PlannedChange[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const { path, content } of files) {
    if (content === null) continue;
    const id = newId('asset');
    await em.execute(
      `insert into asset (id, site_id, path, oid, bytes, sha256, source, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (site_id, path, oid) do update
         set id = excluded.id, source = excluded.source, created_at = excluded.created_at`,
      [id, siteId, path, content.oid, content.bytes, content.sha256, source, clock.now()],
    );
    ids.push(id);
  }
  return ids;
}

function stale(siteId: string, branch: Branch, at: { ref: Branch | undefined; head: string | null }): AppError {
  const { ref, head } = at;
  return errors.stale_hash(
    `The repository has changed since expected_head: ${branch} now points to ${head ?? 'no commit'}.`,
    {
      nextAction: `Read the files again with ${call('source.files', { id: siteId, ref })}, then send the commit with the new expected_head.`,
    },
  );
}
