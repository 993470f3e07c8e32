/**
 * An API that kills its own process, with SIGKILL, when it asks whether the commit `KILL_AT` was pushed: after git has
 * moved the branch, and before the history has its entry.
 */
import { buildApp } from '#api/app.ts';
import type { Repositories } from '#providers/repositories.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';

const deps = createDeps(readConfig(), { name: 'api' });
const repositories = deps.repositories as Repositories;
const killing: Repositories = {
  ...repositories,
  async wasPushed(...which) {
    if (which[3].to === process.env.KILL_AT) process.kill(process.pid, 'SIGKILL');
    return await repositories.wasPushed(...which);
  },
};
const app = await buildApp({ ...deps, repositories: killing });
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
