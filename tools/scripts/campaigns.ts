/** Which tests a run has: those of `npm test`, or campaigns. docs/campaigns.md describes these. */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const selectedMax = 6;

/** Campaigns about no capability of their own, and the folders that they exercise. */
const folders: Record<string, RegExp> = {
  kills: /^(activities|workflows|db)\//,
  restarts: /^(worker|runtime)\//,
  atomicity: /^(edge|providers\/store)\//,
};

/** Campaigns that start whole machines, which takes minutes: a change does not select them. */
const onRequest = /\/(machines|first-starts)\.test\.ts$/;

/** Arguments for vitest, absent if there is nothing to run, and the environment. */
export type Run = { args?: string[]; env: Record<string, string> };

/** Options: `--campaigns`; `--long`, and `--changed-since <commit>`, which selects the campaigns of the folders that changed. */
export function parseCampaigns(options: readonly string[]): Run {
  if (!options.includes('--campaigns')) return { args: ['--project=!campaigns*', ...options], env: {} };
  const since = options.indexOf('--changed-since');
  const rest = options.filter(
    (option, at) => !['--campaigns', '--long', '--changed-since'].includes(option) && (since < 0 || at !== since + 1),
  );
  const files = since < 0 ? [] : changedCampaigns(options[since + 1] ?? 'HEAD^');
  const env = { FRONTAGE_CAMPAIGN: options.includes('--long') ? 'long' : 'short' };
  if (since >= 0 && files.length === 0) return { env };
  return { args: ['--project=campaigns*', ...rest, ...files], env };
}

/** The campaigns whose folders have the most changed files. */
function changedCampaigns(since: string): string[] {
  const changed = execFileSync('git', ['diff', '--name-only', since], { cwd: root, encoding: 'utf8' }).split('\n');
  const weigh = (file: string) => {
    const word = basename(file, '.test.ts').split('-')[0] ?? '';
    const about = folders[word] ?? new RegExp(`/${word}[/.]`);
    return { file, changes: changed.filter((path) => about.test(path) && dirname(path) !== 'test').length };
  };
  return globSync('test/campaigns/{,stack/}*.test.ts', { cwd: root })
    .filter((file) => !onRequest.test(file))
    .map(weigh)
    .filter(({ changes }) => changes > 0)
    .sort((one, other) => other.changes - one.changes)
    .slice(0, selectedMax)
    .map(({ file }) => file);
}
