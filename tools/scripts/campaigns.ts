/** Which tests a run has: those of `npm test`, or campaigns. docs/campaigns.md describes these. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const root = join(import.meta.dirname, '../..');
const selectedMax = 3;

/** Campaigns about no capability of their own, and the folders that they exercise. */
const folders: Record<string, RegExp> = {
  kills: /^(activities|workflows|db)\//,
  restarts: /^(worker|runtime)\//,
  atomicity: /^(edge|providers\/store)\//,
  agents: /^(api\/mcp|rules\/calls|tools\/bench\/agents)\//,
  openapi: /^api\/(.*\/(routes|schemas)|plugins\/openapi)\.ts$/,
};

/** Campaigns that start whole machines or need folders from elsewhere, which takes minutes: a change does not select them. */
const onRequest = /\/(machines|machine-tests|first-starts|outputs|projects)\.test\.ts$/;
/** Options with a value. */
const valued = ['--changed-since', '--projects'];

/** Arguments for vitest, absent if there is nothing to run, and the environment. */
export type Run = { args?: string[]; env: Record<string, string> };

/**
 * Options: `--campaigns`; `--long`; `--projects <folder>`, which has checkouts of public projects, or outputs of other generators; and
 * `--changed-since <commit>`, which selects the campaigns of the folders that changed.
 */
export function parseCampaigns(options: readonly string[]): Run {
  if (!options.includes('--campaigns')) return { args: ['--project=!campaigns*', ...options], env: {} };
  const since = options.indexOf('--changed-since');
  const projects = options.includes('--projects') ? options[options.indexOf('--projects') + 1] : undefined;
  const rest = options.filter(
    (option, at) => !['--campaigns', '--long', ...valued].includes(option) && !valued.includes(options[at - 1] ?? ''),
  );
  const files = since < 0 ? [] : changedCampaigns(options[since + 1] ?? 'HEAD^');
  const env = {
    FRONTAGE_CAMPAIGN: options.includes('--long') ? 'long' : 'short',
    ...(projects === undefined ? {} : { FRONTAGE_PROJECTS: resolve(projects) }),
  };
  if (since >= 0 && files.length === 0) return { env };
  return { args: ['--project=campaigns*', ...rest, ...files], env };
}

/** Tests outside of `test/campaigns` that have a short and a long form too: they ask for their size themselves, or through one of these. */
export function sizedFiles(): string[] {
  const asks = /campaigns\/size\.ts|\bfaultsOf|\bdescribeFirst/;
  return globSync('test/*/{,*/}*.test.ts', { cwd: root })
    .filter((file) => !file.startsWith('test/campaigns/') && asks.test(readFileSync(join(root, file), 'utf8')))
    .sort();
}

/** The campaigns whose folders have the most changed files. Those of a folder outside of `test/campaigns` are one. */
function changedCampaigns(since: string): string[] {
  const changed = execFileSync('git', ['diff', '--name-only', since], { cwd: root, encoding: 'utf8' }).split('\n');
  const weigh = (word: string, files: string[]) => {
    const about = folders[word] ?? new RegExp(`/${word}[/.]`);
    return { files, changes: changed.filter((path) => about.test(path) && dirname(path) !== 'test').length };
  };
  const own = globSync('test/campaigns/{,stack/}*.test.ts', { cwd: root })
    .filter((file) => !onRequest.test(file))
    .map((file) => weigh(basename(file, '.test.ts').split('-')[0] ?? '', [file]));
  const elsewhere = Map.groupBy(sizedFiles(), (file) => file.split('/')[1] ?? '');
  return [...own, ...[...elsewhere].map(([word, files]) => weigh(word, files))]
    .filter(({ changes }) => changes > 0)
    .sort((one, other) => other.changes - one.changes)
    .slice(0, selectedMax)
    .flatMap(({ files }) => files);
}
