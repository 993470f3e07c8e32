/** Validates a push while its objects are still in quarantine: a refused push never enters the repository. */
import type { Place } from '#providers/repositories/git.ts';
import {
  type Difference,
  diffTrees,
  hasObject,
  isAncestor,
  readBlobs,
  type TreeEntry,
  walkHistory,
  walkTree,
} from '#providers/repositories/objects.ts';
import { checkContent, checkHistoricPath, checkTree, needsBytes, type Rules, type Violation } from './rules.ts';

/** The update of one branch, from one commit to another; null if it does not exist before or after. */
export type RefUpdate = { ref: string; from: string | null; to: string | null };

/** All violations of a push; empty if it is accepted. `main` is the tip that a new branch is compared with. */
export async function checkPush(
  rules: Rules,
  place: Place,
  updates: readonly RefUpdate[],
  main: string | null,
): Promise<Violation[]> {
  const refs = updates.map((update) => checkRef(rules, update)).filter((verdict) => verdict !== undefined);
  if (refs.length > 0) return refs;
  const verdicts: Violation[] = [];
  for (const { ref, from, to } of updates) {
    if (to !== null) verdicts.push(...(await checkTip(rules, place, { ref, from: from ?? main, to })));
  }
  return verdicts;
}

function checkRef({ limits, lift }: Rules, { ref, to }: RefUpdate): Violation | undefined {
  const slot = /^refs\/heads\/preview\/([1-9][0-9]{0,3})$/.exec(ref)?.[1];
  const isSlot = slot !== undefined && Number(slot) <= limits.preview_slots;
  if (ref !== 'refs/heads/main' && !isSlot) {
    const may = `main and preview/1 to preview/${limits.preview_slots}`;
    return refuse(
      ref,
      `cannot be pushed: sites accept pushes only to ${may}`,
      `Push to main: git push origin HEAD:main. ${lift('preview_slots')}`,
    );
  }
  if (to !== null) return undefined;
  return refuse(ref, 'cannot be deleted by a push', 'To undo the work, push commits that revert it (git revert).');
}

/** All git queries run concurrently: each is a process, and most of its time is start-up. */
async function checkTip(
  rules: Rules,
  place: Place,
  { ref, from, to }: { ref: string; from: string | null; to: string },
): Promise<Violation[]> {
  const asked = Promise.all([readFiles(place, to, rules.limits.site_files + 1), checkNewHistory(place, from, to)]);
  const answers = await asked.catch(async (error: unknown) => {
    // git's queries fail for anything that is not a commit.
    if (await hasObject(place, to, 'commit')) throw error;
    return undefined;
  });
  if (!answers || !(answers[1].isCommit || (await hasObject(place, to, 'commit')))) {
    return [refuse(ref, 'would not point to a commit', 'Push a commit: git push origin HEAD:main')];
  }
  const [files, history] = answers;
  const goesForward = from === null || history.isOnTop || ref !== 'refs/heads/main';
  if (!goesForward && !(await isAncestor(place, from, to))) {
    const remedy = 'Rebase onto the site’s commits (git pull --rebase), then push without --force.';
    return [refuse(ref, 'accepts only fast-forward pushes: this push would remove commits from the site', remedy)];
  }
  const differences = history.differences ?? (await diffTrees(place, from, to));
  const verdicts = [...checkTree(rules, files, differences), ...history.verdicts];
  return verdicts.length > 0 ? verdicts : checkContents(rules, place, differences);
}

/** The files of a commit, at most `countMax`: a small pack can contain a tree of any size. */
async function readFiles(place: Place, commit: string, countMax: number): Promise<TreeEntry[]> {
  const files: TreeEntry[] = [];
  for await (const file of walkTree(place, commit)) {
    files.push(file);
    if (files.length >= countMax) break;
  }
  return files;
}

/**
 * The result of one walk through the new commits. `isCommit`: `to` is among them. `isOnTop`: one of them has the parent
 * `from`. `differences` is defined only for a single new commit on top of `from`, as in most pushes.
 */
type History = { isCommit: boolean; isOnTop: boolean; differences: Difference[] | undefined; verdicts: Violation[] };

async function checkNewHistory(place: Place, from: string | null, to: string): Promise<History> {
  const history: History = { isCommit: false, isOnTop: false, differences: undefined, verdicts: [] };
  let commits = 0;
  for await (const step of walkHistory(place, to)) {
    if ('path' in step) {
      const verdict = step.oid === null ? undefined : checkHistoricPath(step.path);
      if (verdict) return { ...history, differences: undefined, verdicts: [verdict] };
      history.differences?.push(step);
    } else {
      commits += 1;
      history.isCommit ||= step.commit === to;
      history.isOnTop ||= from !== null && step.parents.includes(from);
      const isOnly = commits === 1 && step.commit === to && step.parents.length === 1 && step.parents[0] === from;
      history.differences = isOnly ? [] : undefined;
    }
  }
  return history;
}

async function checkContents(rules: Rules, place: Place, differences: readonly Difference[]): Promise<Violation[]> {
  const written = differences.flatMap(({ path, oid }) =>
    oid !== null && needsBytes(rules.repository, path) ? [{ path, oid }] : [],
  );
  const verdicts: Violation[] = [];
  const paths = written.values();
  for await (const { content } of readBlobs(
    place,
    written.map((file) => file.oid),
  )) {
    const path = paths.next().value?.path ?? '';
    const verdict = await checkContent(rules.repository, path, content);
    if (verdict) verdicts.push(verdict);
  }
  return verdicts;
}

function refuse(ref: string, what: string, remedy: string): Violation {
  return { code: 'invalid_path', path: `"${ref.replace(/^refs\/heads\//, '')}"`, what, remedy };
}
