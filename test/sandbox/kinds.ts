/** The kinds of sandboxes, and tests of each. */
import { describe } from 'vitest';
import { isLong } from '#test/campaigns/size.ts';
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

/**
 * What the runner in the sandbox does, and the reading of its output, is one code for all kinds. So the first kind that this machine has
 * goes through all cases, the others through one in four of them; in the long form through all too.
 */
export function casesIn<Case>(kind: Kind, cases: readonly Case[]): Case[] {
  const isFirst = kind === 'docker' || (!hasDocker && kind === usual[1]);
  return cases.filter((_case, at) => isFirst || at % 4 === 0 || isLong);
}
