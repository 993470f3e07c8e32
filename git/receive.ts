/** One push: what `receive-pack` may use, and the decision of its hook. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { GitLimitReached, historicFaults, type Place } from '#providers/repositories/git.ts';
import { pushEnvironment, pushSettings } from '#providers/repositories/pushes.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { PlanLimits } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';
import { type Address, GitRefusal, isStillGranted, refusalOrThrow } from './access.ts';
import { resolveRefs } from './branches.ts';
import type { Pushing } from './hold-push.ts';
import {
  answerHook,
  type Decision,
  keyLines,
  type Push,
  photoLines,
  publishLines,
  refusalLines,
  tagLines,
} from './hook.ts';
import { type CheckedPush, checkPush, type RefUpdate } from './push.ts';
import type { Violation } from './rules.ts';
import type { Exchange, GitWork, Work } from './serve.ts';
import { settingsAt, settingsOfMain } from './settings.ts';
import type { GitTimeouts } from './timers.ts';

export type GitDeps = Pick<Deps, 'config' | 'clock' | 'log' | 'em' | 'repositories'>;
/** An exchange before it has a slot. */
export type GitRequest = Omit<Exchange, 'disconnect' | 'signal' | 'onExit'>;

export type PushContext = {
  /** Checks the access again. Throws a GitRefusal. */
  access: () => Promise<unknown>;
  /**
   * Checks the access again, and keeps it from being revoked until `over` settles. Then records the updates in the
   * history. Rejects with a GitRefusal.
   */
  hold: (push: Pick<Pushing, 'over' | 'pushId' | 'updates'>) => Promise<void>;
  /** Whether a push with this access may be published. */
  mayPublish: boolean;
  planLimits: PlanLimits;
  platform: ReadonlyMap<string, string>;
  /** Whether `main` does not exist yet: the push may bring any history. */
  isFirst: boolean;
  place: Place;
  address: Address;
  body: Readable;
  times: GitTimeouts;
  work: GitWork;
};

/** The exchange of a push. */
export function pushOf(deps: GitDeps, context: PushContext): GitRequest {
  const { access, planLimits, isFirst, place, address, body, times, work } = context;
  const { limits, lift } = planLimits;
  const pushId = newId('hist');
  const megabytes = Math.floor(limits.push_bytes / 1_048_576);
  return {
    service: 'git-receive-pack',
    dir: place.dir,
    protocol: undefined,
    body,
    bodyBytesMax: limits.push_bytes,
    // The hook `proc-receive` has the last word on tags.
    settings: { ...pushSettings, 'receive.procReceiveRefs': 'refs/tags', ...(isFirst ? anyHistory : {}) },
    environment: pushEnvironment(pushId),
    tooLarge: [
      `This push is larger than ${megabytes > 0 ? `${megabytes} MiB` : `${limits.push_bytes} bytes`}, the limit for one push.`,
      `Push fewer commits at a time, or remove large files from the history. ${lift('push_bytes')}`,
    ],
    tooSlow: tooSlowLines,
    isStillAllowed: () => isStillGranted(access),
    onHook(channel, left) {
      answerHook(channel, (push) => decide(deps, context, { ...push, pushId }, left)).catch((error) => {
        deps.log.error({ err: error, siteId: address.siteId }, 'a push could not be checked');
        channel.end('refused\nThe push could not be checked because of an internal error. Nothing has changed.\n');
      });
    },
    timeouts: times,
    work,
  };
}

/**
 * What git usually refuses in a commit or tree, and old repositories contain: names, addresses, dates and modes that
 * later releases of git write in another form. The files of the tip are still checked by the rules.
 */
const anyHistory = Object.fromEntries(historicFaults.map((name) => [`receive.fsck.${name}`, 'ignore'] as const));

const tooSlowLines = [
  'This push takes too much computing time or memory to check.',
  'Push fewer commits at a time, or repack your clone first: git repack -a -d -f --depth=50',
];

/** Whether the push is accepted, with the lines for the pusher's terminal. */
async function decide(
  deps: GitDeps,
  {
    access,
    hold,
    mayPublish,
    planLimits: { limits, lift },
    platform,
    isFirst,
    place,
    address: { siteId, repository },
  }: PushContext,
  { quarantine, updates: pushed, pushId }: Push & { pushId: string },
  left: Work,
): Promise<Decision> {
  // The upload may have taken minutes, and the access may have been revoked meanwhile.
  const lost = await access().catch(refusalOrThrow);
  if (lost instanceof GitRefusal) return refusedBy(lost);
  const repositories = deps.repositories as Repositories;
  const main = await repositories.head(siteId, repository);
  if (isFirst && main !== null) return refuse(refusalLines([notFirst]));
  const within = { ...place, limits: await left.limits(), watch: left.watch };
  const received =
    quarantine === undefined ? within : { ...within, quarantine: join(place.dir, 'objects', quarantine) };
  try {
    const address = { siteId, repository };
    const { updates, tags, freeSlot } = await resolveRefs(repositories, address, pushed, limits.preview_slots);
    if (tags.length > tagsMax) return refuse(refusalLines([tooManyTags(tags.length)]));
    const rules = { repository, limits, lift, platform, freeSlot };
    const { violations, ...found } = await checkPush(rules, received, updates, main, limits.site_bytes);
    if (violations.length > 0) return refuse(refusalLines(violations));
    const lines = await settingsLines({ repositories, address, received, mayPublish }, updates, found);
    // The checks may have taken long, too. From here on a revocation waits until git has moved the branches.
    const ended = await hold({ over: left.exited, pushId, updates }).catch(refusalOrThrow);
    if (ended instanceof GitRefusal) return refusedBy(ended);
    left.settle();
    return { accepted: true, lines: [...tagLines(tags), ...photoLines(found.located), ...lines] };
  } catch (error) {
    if (!(error instanceof GitLimitReached)) throw error;
    return refuse(['', 'Refused. Nothing has changed.', ...tooSlowLines.map((line) => `  ${line}`), '']);
  }
}

type Settled = { repositories: Repositories; address: Address; received: Place; mayPublish: boolean };

/** What `frontage.toml` says about this push. */
async function settingsLines(
  { repositories, address, received, mayPublish }: Settled,
  updates: readonly RefUpdate[],
  { hasNewSettings }: Pick<CheckedPush, 'hasNewSettings'>,
): Promise<string[]> {
  const main = updates.find(({ ref }) => ref === 'refs/heads/main')?.to;
  const tip = main ?? updates.find(({ to }) => to !== null)?.to;
  const isChanged = hasNewSettings === true && tip != null;
  const settings = isChanged ? await settingsAt(received, tip) : await settingsOfMain(repositories, address.siteId);
  const publishing = main == null || !settings.publishOnPush ? [] : publishLines(address, mayPublish);
  return [...(isChanged ? keyLines(settings) : []), ...publishing];
}

/** Ignoring a tag takes a few processes. */
const tagsMax = 100;
const tooManyTags = (count: number): Violation => ({
  code: 'invalid_path',
  path: null,
  what: `This push has ${count} tags; sites have none`,
  remedy: 'Push without --tags, and without push.followTags.',
});

const notFirst: Violation = {
  code: 'stale_hash',
  path: null,
  what: 'Another push to this empty repository came first',
  remedy: 'Rebase onto the site’s commits (git pull --rebase), then push again.',
};

const refuse = (lines: string[]): Decision => ({ accepted: false, lines });

function refusedBy({ message }: GitRefusal): Decision {
  return refuse(['', 'Refused. Nothing has changed.', `  ${message}`, '']);
}
