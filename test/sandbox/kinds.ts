/** The kinds of sandboxes, and tests of each. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestOptions } from 'vitest';
import { toolsEnv } from '#providers/sandbox/process-sandbox.ts';
import { isLong, size } from '#test/campaigns/size.ts';
import { pathOf } from '#test/stack/requirements.ts';

export const kinds = ['docker', 'bubblewrap', 'namespaces'] as const;
export type Kind = (typeof kinds)[number];

const hasDocker = (await pathOf('docker')) !== '';
const hasBubblewrap = (await pathOf('bubblewrap')) !== '';

/** bubblewrap and namespaces differ only in how a build gets into its place: what the tests of that show is left out where both are. */
const usual = kinds.filter((kind) => kind !== 'namespaces' || isLong || !hasBubblewrap);

/** The same tests for each kind that this machine has. */
export function describeKinds(tests: (kind: Kind) => void, tested: readonly Kind[] = usual): void {
  for (const kind of tested) describe(`in ${kind}`, { tags: kind }, () => tests(kind));
}

/** Whether a build's programs, which are the system's, include this one: in namespaces `ip` and `hostname` are optional. */
export const systemHas = (name: string): boolean =>
  toolsEnv.PATH.split(':').some((folder) => existsSync(join(folder, name)));

/** Options of a test of what only control groups show, where no engine has its own. */
export const inGroups = (kind: Kind): TestOptions => ({ tags: kind === 'docker' ? [kind] : [kind, 'control-groups'] });

const first = hasDocker ? 'docker' : hasBubblewrap ? 'bubblewrap' : 'namespaces';
const isFirst = (kind: Kind) => kind === first;

/**
 * For what is one code in all kinds: what the runner in the sandbox does, and the reading of its output. `npm test` runs these tests in the
 * first kind that this machine has, campaigns in each.
 */
export function describeFirst(tests: (kind: Kind) => void): void {
  describeKinds(tests, size === 'one' ? usual.filter(isFirst) : usual);
}

/** Of similar cases, `npm test` builds one in three. Campaigns build all in the first kind, and in the others one in four or, in the long form, all. */
export function casesIn<Case>(kind: Kind, cases: readonly Case[]): Case[] {
  const every = size === 'one' ? 3 : isLong || isFirst(kind) ? 1 : 4;
  return cases.filter((_case, at) => at % every === 0);
}
