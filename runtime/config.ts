/** The only reader of the environment. It reports all problems at once, and returns a frozen configuration. */

import { readFileSync } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { domainsConfig } from './config/domains.ts';
import { edgesConfig } from './config/edges.ts';
import { featuresConfig, signInConfig } from './config/features.ts';
import { installationConfig } from './config/installation.ts';
import { moneyConfig } from './config/money.ts';
import { operationConfig } from './config/operation.ts';
import { ownCatalog, readPlans } from './config/plans.ts';
import { storageConfig, workersConfig } from './config/workers.ts';
import { requirements } from './settings/requirements.ts';
import { settings } from './settings.ts';

const environment = settings.superRefine((values, check) => {
  for (const { setting, message, isMet } of requirements) {
    if (!isMet(values)) check.addIssue({ code: 'custom', path: [setting], message });
  }
});

/** Where this process looks for programs. */
export const programFolders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);

export type Config = ReturnType<typeof readConfig>;

/** Reads and validates the environment. Throws one Error that names every invalid variable. */
export function readConfig(given: NodeJS.ProcessEnv = process.env) {
  const { env, faults: unread } = withFiles(given);
  const parsed = environment.safeParse(env);
  const catalog = readPlans(env.FRONTAGE_PLANS || ownCatalog);
  const faults = [
    ...unread,
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...faultsOfCatalog(catalog, env.FRONTAGE_PLAN),
  ];
  if (!parsed.success || 'faults' in catalog || faults.length > 0) {
    throw new Error(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
  const e = parsed.data;
  return Object.freeze({
    ...installationConfig(e),
    ...edgesConfig(e),
    ...workersConfig(e),
    ...storageConfig(e),
    ...featuresConfig(e),
    ...domainsConfig(e),
    ...signInConfig(e),
    ...moneyConfig(e, catalog.plans),
    ...operationConfig(e),
  });
}

/** Reads variables from files, as containers receive their secrets: `FRONTAGE_SECRET_FILE` is the file of `FRONTAGE_SECRET`. */
function withFiles(given: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; faults: string[] } {
  const env = { ...given };
  const faults: string[] = [];
  for (const name of Object.keys(settings.shape)) {
    const file = given[`${name}_FILE`];
    if (!file) continue;
    try {
      if (given[name] !== undefined) throw new Error(`is set together with ${name}: set only one of them`);
      env[name] = readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      faults.push(`${name}_FILE: ${(error as Error).message}`);
    }
  }
  return { env, faults };
}

function faultsOfCatalog(catalog: ReturnType<typeof readPlans>, plan: string | undefined): string[] {
  if ('faults' in catalog) return catalog.faults.map((fault) => `FRONTAGE_PLANS: ${fault}`);
  const isKnown = !plan || catalog.plans.some(({ name }) => name === plan);
  return isKnown ? [] : [`FRONTAGE_PLAN: the plan catalog has no plan named ${plan}`];
}
