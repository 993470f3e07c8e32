/**
 * Random histories of a site and its slots: pushes, builds, updates, publishes and clears, in any order. A model says what each call answers
 * and what git, drafts and the live version hold after it. Every push adds a file of its own, so that work is told apart by its number.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Repository } from '#rules/states.ts';

export type Answer = { status: number; body: { error?: { code: string }; status?: string; deployment_id?: string } };

/** The system under test, for one site of its own. */
export type Hands = {
  push(branch: string, repository: Repository, files: Record<string, string>): Promise<void>;
  /** Paths at the tip of a branch; null where there is no such branch. */
  filesAt(branch: string, repository: Repository): Promise<string[] | null>;
  call(method: string, path: string): Promise<Answer>;
  /** Paths that a deployment serves. */
  served(deploymentId: string): Promise<string[]>;
  live(): Promise<string | null>;
};

const slots = [1, 2] as const;
const repositories = ['source', 'content'] as const;
type Slot = (typeof slots)[number];
type Work = ReadonlySet<number>;
type Works = Record<Repository, Work>;

export type Act =
  | { act: 'push'; to: 'main' | Slot; repository: Repository; draft: boolean; shared: boolean }
  | { act: 'build' | 'update' | 'publish'; slot: Slot }
  | { act: 'clear'; slot: Slot; discard: boolean }
  | { act: 'site' };

const slot = fc.constantFrom(...slots);
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('push' as const),
      to: fc.constantFrom('main' as const, ...slots, ...slots),
      repository: fc.constantFrom(...repositories),
      draft: fc.boolean(),
      shared: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  { weight: 9, arbitrary: fc.record({ act: fc.constantFrom('build', 'update', 'publish'), slot }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('clear' as const), slot, discard: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ act: 'site' as const }) },
);

/** From a site that was never published. */
export const history = (maxLength: number) => fc.array(acts, { minLength: 4, maxLength });

type InSlot = { branch: Record<Repository, Work | null>; draft: Works | null };
type Model = {
  main: Works;
  slots: Record<Slot, InSlot>;
  live: Works | null;
  /** Posts that say they are drafts. */
  drafts: Set<number>;
  pushed: number;
  /** Branches on which the file that all know was changed. */
  shared: Set<string>;
};

const empty = (): InSlot => ({ branch: { source: null, content: null }, draft: null });
const holds = (whole: Works, part: Record<Repository, Work | null>) =>
  repositories.every((repository) => [...(part[repository] ?? [])].every((one) => whole[repository].has(one)));
const isSame = (one: Works, other: Works) => holds(one, other) && holds(other, one);
const isBranched = ({ branch }: InSlot) => branch.source !== null || branch.content !== null;
const numbers = (paths: readonly string[]) => {
  const found = paths.flatMap((path) => [...path.matchAll(/work-(\d+)-/g)].map(([, number]) => Number(number)));
  return [...new Set(found)].sort((a, b) => a - b);
};
const sorted = (...works: Work[]) => [...new Set(works.flatMap((work) => [...work]))].sort((a, b) => a - b);

/** Runs the history, and compares what there is with the model after each step. */
export async function run(hands: Hands, siteId: string, steps: readonly Act[]): Promise<void> {
  const model: Model = {
    main: { source: new Set(), content: new Set() },
    slots: { 1: empty(), 2: empty() },
    live: null,
    drafts: new Set(),
    pushed: 0,
    shared: new Set(),
  };
  const path = (one: Slot, act = '') => `/v1/sites/${siteId}/previews/${one}${act}`;

  for (const step of steps) {
    if (step.act === 'push') await push(hands, model, step);
    else if (step.act === 'site') await publishSite(hands, model, siteId);
    else {
      const [method, act] =
        step.act === 'clear'
          ? ['DELETE', `?discard=${step.discard}`]
          : ['POST', step.act === 'build' ? '' : `/${step.act}`];
      const answer = await hands.call(method as string, path(step.slot, act));
      judge(model, step, answer);
    }
    await compare(hands, model, path);
  }
}

async function push(hands: Hands, model: Model, { to, repository, draft, shared }: Act & { act: 'push' }) {
  const number = ++model.pushed;
  const branch = to === 'main' ? 'main' : `preview/${to}`;
  const isDraft = draft && repository === 'content';
  const name = repository === 'source' ? `src/pages/work-${number}-.astro` : `posts/work-${number}-.md`;
  const post = `---\ntitle: Work ${number}\ndescription: W\ndate: 2026-01-02\n${isDraft ? 'draft: true\n' : ''}---\nWords ${number}.\n`;
  const files: Record<string, string> = { [name]: repository === 'source' ? `<h1>Work ${number}</h1>\n` : post };
  if (shared && repository === 'source') {
    files['src/pages/shared.astro'] = `<h1>Shared ${number}</h1>\n`;
    model.shared.add(branch);
  }
  await hands.push(branch, repository, files);
  if (isDraft) model.drafts.add(number);
  if (to === 'main') model.main[repository] = new Set([...model.main[repository], number]);
  else {
    const { branch: own } = model.slots[to];
    own[repository] = new Set([...(own[repository] ?? model.main[repository]), number]);
  }
}

async function publishSite(hands: Hands, model: Model, siteId: string): Promise<void> {
  expect(await hands.call('POST', `/v1/sites/${siteId}/publish`)).toMatchObject({
    status: 200,
    body: { status: 'live' },
  });
  model.live = { ...model.main };
}

/** What the slot is built from: its own branch of each repository, else the site's. */
function sourceOf(model: Model, { branch }: InSlot): Works {
  return { source: branch.source ?? model.main.source, content: branch.content ?? model.main.content };
}

function refusal(model: Model, act: string, at: InSlot, discard: boolean): string | undefined {
  if (act === 'build') return undefined;
  if (act === 'clear') {
    if (!at.draft && !isBranched(at)) return 'slot_empty';
    return !discard && !holds(model.main, at.branch) ? 'preview_holds_work' : undefined;
  }
  if (!at.draft) return 'slot_empty';
  if (!isBranched(at)) return 'slot_not_branched';
  if (act === 'update') return undefined;
  if (!holds(at.draft, model.main)) return 'draft_behind';
  return isSame(at.draft, model.main) && model.live && isSame(model.live, at.draft) ? 'slot_not_branched' : undefined;
}

/** Holds the answer against the model, and takes in what it has done. */
function judge(model: Model, step: Exclude<Act, { act: 'push' | 'site' }>, answer: Answer): void {
  const at = model.slots[step.slot];
  const code = answer.body.error?.code;
  if (step.act === 'update' && code === 'draft_conflict') {
    // Only the file that all know can be in conflict, and only if both sides changed it.
    expect(model.shared.size).toBeGreaterThan(1);
    return;
  }
  expect(code).toBe(refusal(model, step.act, at, step.act === 'clear' && step.discard));
  if (code !== undefined) return;
  if (step.act === 'clear') model.slots[step.slot] = empty();
  if (step.act === 'update') {
    for (const repository of repositories) {
      const own = at.branch[repository];
      if (own) at.branch[repository] = new Set([...own, ...model.main[repository]]);
    }
  }
  if (step.act === 'build' || step.act === 'update') at.draft = sourceOf(model, at);
  if (step.act === 'publish' && at.draft) {
    expect(answer.body.status).toBe('live');
    model.main = { ...at.draft };
    model.live = { ...at.draft };
  }
}

async function compare(hands: Hands, model: Model, path: (slot: Slot) => string): Promise<void> {
  const branches: [string, Record<Repository, Work | null>][] = [
    ['main', model.main],
    ...slots.map((one): [string, InSlot['branch']] => [`preview/${one}`, model.slots[one].branch]),
  ];
  for (const [name, works] of branches) {
    for (const repository of repositories) {
      const files = await hands.filesAt(name, repository);
      const work = works[repository];
      expect([name, repository, files && numbers(files)]).toEqual([name, repository, work && sorted(work)]);
    }
  }
  for (const one of slots) {
    const at = model.slots[one];
    const { body } = await hands.call('GET', path(one));
    const base = at.draft ?? sourceOf(model, at);
    expect(body).toMatchObject({
      slot: one,
      status: at.draft ? 'draft' : 'empty',
      branched: isBranched(at),
      behind: !holds(base, model.main),
      holds_work: !holds(model.main, at.branch),
    });
    const shown = body.deployment_id ? numbers(await hands.served(body.deployment_id)) : undefined;
    expect(shown).toEqual(at.draft ? sorted(at.draft.source, at.draft.content) : undefined);
  }
  const live = await hands.live();
  const wanted = model.live && sorted(model.live.source, model.live.content).filter((one) => !model.drafts.has(one));
  expect(live && numbers(await hands.served(live))).toEqual(wanted);
}
