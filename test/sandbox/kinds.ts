/** The kinds of sandboxes, and tests of each. */
import { describe } from 'vitest';
import { isLong } from '#test/campaigns/size.ts';
import { pathOf } from '#test/stack/requirements.ts';

export type Kind = 'docker' | 'bubblewrap' | 'namespaces';

const hasDocker = (await pathOf('docker')) !== '';

/** The same tests for each kind that this machine has. */
export function describeKinds(tests: (kind: Kind) => void): void {
  for (const kind of ['docker', 'bubblewrap'] as const) describe(`in ${kind}`, { tags: kind }, () => tests(kind));
}

/**
 * What the runner in the sandbox does, and the reading of its output, is one code for both kinds. So the first kind that this machine has
 * goes through all cases, the other through one in four of them; in the long form through all too.
 */
export function casesIn<Case>(kind: Kind, cases: readonly Case[]): Case[] {
  const isFirst = kind === 'docker' || !hasDocker;
  return cases.filter((_case, at) => isFirst || at % 4 === 0 || isLong);
}
