/** Validates a push while its objects are still in quarantine: a refused push never enters the repository. */
import { settingsFile } from '#providers/build-settings.ts';
import { isHarmful } from '#providers/paths.ts';
import type { Place } from '#providers/repositories/git.ts';
import { type ObjectReader, OversizedObject, openObjects } from '#providers/repositories/object-reader.ts';
import { findName, isAncestor, listNewObjects, locate } from '#providers/repositories/objects.ts';
import { compareTrees, type Difference } from '#providers/repositories/tree-differences.ts';
import { listFiles, readCommit, readTree } from '#providers/repositories/trees.ts';
import { sliced } from '#runtime/slices.ts';
import { isLocated, isPhotoName, type Read } from './rules/photos.ts';
import {
  checkContent,
  checkDifferences,
  checkHistoricPath,
  formatKey,
  needsBytes,
  type Rules,
  refuseCommit,
  refuseExcess,
  refuseInflation,
  type Violation,
} from './rules.ts';

/** The update of one branch, from one commit to another; null if it does not exist before or after. */
export type RefUpdate = { ref: string; from: string | null; to: string | null };

/** `freeSlot`: a preview slot without a branch, for the message about a branch that no slot has. */
export type PushRules = Rules & { freeSlot?: number | undefined };

type Tip = { ref: string; from: string | null; to: string };

/** A push is accepted if it has no violations. `located` has the paths of photos that say where they were taken; `hasNewSettings`: it changes `frontage.toml`. */
export type CheckedPush = { violations: Violation[]; located: string[]; hasNewSettings?: boolean };

/**
 * Finds all violations of a push. `main` is the tip that a new branch is compared with. The objects in the quarantine, if
 * there is one, may decompress to at most `inflatedBytesMax` bytes.
 */
export async function checkPush(
  rules: PushRules,
  place: Place,
  updates: readonly RefUpdate[],
  main: string | null,
  inflatedBytesMax = Number.POSITIVE_INFINITY,
): Promise<CheckedPush> {
  const twice = updates.filter(({ ref }, index) => updates.findIndex((other) => other.ref === ref) !== index);
  const refs = updates.map((update) => checkRef(rules, update)).filter((verdict) => verdict !== undefined);
  if (refs.length > 0) return refused(refs);
  if (twice.length > 0)
    return refused(twice.map(({ ref }) => refuse(ref, 'is pushed under two names', 'Push one of them.')));
  const tips = updates.flatMap(({ ref, from, to }) => (to === null ? [] : [{ ref, from: from ?? main, to }]));
  // Both processes run at the same time: most of their time is start-up.
  const listing = place.quarantine === undefined ? undefined : listNewObjects(place, inflatedBytesMax);
  listing?.catch(() => {});
  await using reader = await openObjects(place);
  const verdicts: Violation[] = [];
  const differences: Difference[] = [];
  for (const tip of tips) {
    const found = await checkTip(rules, place, reader, tip);
    verdicts.push(...found.verdicts);
    differences.push(...found.differences);
    // The reader has stopped in the middle of an answer.
    if (found.isUnread) return refused(verdicts);
  }
  const added = await listing;
  if (added && added.inflatedBytes > inflatedBytesMax) return refused([...verdicts, refuseInflation(rules)]);
  if (added && added.commitBytes > commitBytesMax) verdicts.push(refuseCommit(commitBytesMax));
  if (added) verdicts.push(...(await checkNewTrees(rules, place, reader, tips, added.trees)));
  if (verdicts.length > 0) return refused(verdicts);
  const hasNewSettings = rules.repository === 'source' && differences.some(({ path }) => path === settingsFile);
  return { ...(await checkContents(rules, reader, differences)), hasNewSettings };
}

const refused = (violations: Violation[]): CheckedPush => ({ violations, located: [] });

// With 20,000 parents, or a very long message. Each read of a tree begins at its commit.
const commitBytesMax = 1_048_576;

function checkRef({ limits, lift, freeSlot }: PushRules, { ref, to }: RefUpdate): Violation | undefined {
  const slot = /^refs\/heads\/preview\/([1-9][0-9]{0,3})$/.exec(ref)?.[1];
  const isSlot = slot !== undefined && Number(slot) <= limits.preview_slots;
  if (ref !== 'refs/heads/main' && !isSlot) {
    const may = `main and preview/1 to preview/${limits.preview_slots}`;
    const name = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    const inSlot =
      name === undefined || freeSlot === undefined
        ? ''
        : ` Or show it in the free slot ${freeSlot}: git push origin HEAD:preview/${freeSlot}, or in frontage.toml on main, [branches] "${name}" = ${freeSlot}.`;
    return refuse(
      ref,
      `cannot be pushed: sites accept pushes only to ${may}`,
      `Push to main: git push origin HEAD:main.${inSlot} ${lift('preview_slots')}`,
    );
  }
  if (to !== null) return undefined;
  return refuse(ref, 'cannot be deleted by a push', 'To undo the work, push commits that revert it (git revert).');
}

type Checked = { verdicts: Violation[]; differences: Difference[]; isUnread?: boolean };

/** Compares a tip with the one before, by names, modes and sizes. */
async function checkTip(rules: Rules, place: Place, reader: ObjectReader, tip: Tip): Promise<Checked> {
  const { ref, from, to } = tip;
  const only = (verdict: Violation): Checked => ({ verdicts: [verdict], differences: [] });
  let type: string | undefined;
  for await (const info of reader.infos([to])) ({ type } = info);
  if (type !== 'commit') {
    return only(refuse(ref, 'would not point to a commit', 'Push a commit: git push origin HEAD:main'));
  }
  if (ref === 'refs/heads/main' && from !== null && !(await isOnTop(place, reader, from, to))) {
    const remedy = 'Rebase onto the site’s commits (git pull --rebase), then push without --force.';
    return only(refuse(ref, 'accepts only fast-forward pushes: this push would remove commits from the site', remedy));
  }
  const { limits } = rules;
  const { tree: root } = await readCommit(reader, to);
  const found = await readTree(reader, root, { files: limits.site_files, bytes: limits.site_bytes });
  if ('excess' in found) return { ...only(refuseExcess(rules, found.excess)), isUnread: true };
  const before = from === null ? null : (await readCommit(reader, from)).tree;
  const differences = await compareTrees(reader, before, found.tree);
  const sizes = new Map<string, number>();
  for await (const { path, bytes } of sliced(await listFiles(found.tree, found.sizes))) sizes.set(path, bytes);
  const verdicts: Violation[] = [];
  for await (const difference of sliced(differences)) verdicts.push(...checkDifferences(rules, sizes, [difference]));
  return { verdicts, differences };
}

const commitsReadMax = 20;

/** Whether the history of `to` contains `from`. Most pushes have few commits: a process is started only for others. */
async function isOnTop(place: Place, reader: ObjectReader, from: string, to: string): Promise<boolean> {
  const seen = new Set([to]);
  for (const commit of seen) {
    if (commit === from) return true;
    if (seen.size > commitsReadMax) break;
    for (const parent of (await readCommit(reader, commit)).parents) seen.add(parent);
  }
  return seen.has(from) || (await isAncestor(place, from, to));
}

/** Only names that would harm a clone are refused in commits before the tip. */
async function checkNewTrees(
  rules: Rules,
  place: Place,
  reader: ObjectReader,
  tips: readonly Tip[],
  trees: Buffer,
): Promise<Violation[]> {
  const found = await findName(reader, trees, isHarmful).catch((error: unknown) => {
    if (error instanceof OversizedObject) return error;
    throw error;
  });
  if (found instanceof OversizedObject) return [refuseExcess(rules, { limit: 'files' })];
  if (!found) return [];
  const commits = tips.map(({ to }) => to);
  return [checkHistoricPath(await locate(place, commits, found)) ?? []].flat();
}

// Photos of phones and cameras are smaller.
const photoBytesMax = 16_777_216;

/** Validates changed files by their bytes: equal ones once. */
async function checkContents(
  rules: Rules,
  reader: ObjectReader,
  differences: readonly Difference[],
): Promise<CheckedPush> {
  const { repository } = rules;
  const written = new Map<string, { path: string; oid: string }>();
  for await (const { path, oid } of sliced(differences)) {
    if (oid === null || !needsBytes(repository, path)) continue;
    const key = `${oid} ${formatKey(repository, path)}`;
    if (!written.has(key)) written.set(key, { path, oid });
  }
  const files = [...written.values()];
  const checked: CheckedPush = { violations: [], located: [] };
  const paths = files.values();
  for await (const { bytes, content } of reader.contents(files.map(({ oid }) => oid))) {
    const path = paths.next().value?.path ?? '';
    // A photo is read more than once.
    const read = isPhotoName(path) && bytes <= photoBytesMax ? await buffer(content) : undefined;
    const violation = await checkContent(repository, path, read ? read() : content);
    if (violation) checked.violations.push(violation);
    else if (read && (await isLocated(read))) checked.located.push(path);
  }
  return checked;
}

async function buffer(content: AsyncIterable<Buffer>): Promise<Read> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return async function* read() {
    yield* chunks;
  };
}

function refuse(ref: string, what: string, remedy: string): Violation {
  return { code: 'invalid_path', path: `"${ref.replace(/^refs\/heads\//, '')}"`, what, remedy };
}
