/**
 * Starts the stack that acceptance tests share. With `FRONTAGE_RESTARTS=5` it is several of each, one of which is restarted every five seconds
 * while the tests run (`FRONTAGE_RESTARTS_KILL=1`: every other worker by SIGKILL); with `FRONTAGE_TEMPORAL_BIN`, a folder of its programs
 * `server` and `sql`, the workflow engine is the one for production, on PostgreSQL.
 */
import type { TestProject } from 'vitest/node';
import { restartAtRandom } from '#test/stack/restarts.ts';
import { filesBytes, makeRunFolder, memoryRoot, removeRunFolder, sweepRunFolders } from '#test/stack/run-folder.ts';
import { startSeveral } from '#test/stack/several.ts';
import { type StackAddress, startTestStack } from '#test/stack/stack.ts';
import { temporalOnPostgres } from '#test/stack/temporal-on-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackAddress;
    /** Of the run. */
    runFolder: string;
  }
}

const everySeconds = Number(process.env.FRONTAGE_RESTARTS ?? 0);
const temporalBin = process.env.FRONTAGE_TEMPORAL_BIN;
/** Campaigns write more than fits into memory. */
const isCampaign = process.env.FRONTAGE_CAMPAIGN !== undefined;

type Shared = { address: StackAddress; stop(): Promise<void> };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await sweepRunFolders();
  const folder = makeRunFolder(isCampaign ? undefined : memoryRoot(filesBytes));
  try {
    const { address, stop } = everySeconds > 0 ? await startRestarted(folder) : await startOne(folder);
    project.provide('stack', address);
    project.provide('runFolder', folder);
    return async () => {
      try {
        await stop();
      } finally {
        removeRunFolder(folder);
      }
    };
  } catch (error) {
    removeRunFolder(folder);
    throw error;
  }
}

async function startOne(folder: string): Promise<Shared> {
  const { stack, address } = await startTestStack(folder, 'shared', {
    onUnexpectedEnd: (name, how) => console.error(`The shared stack's ${name} ended: ${how}`),
  });
  return { address, stop: stack.stop };
}

async function startRestarted(folder: string): Promise<Shared> {
  const temporal = temporalBin ? { temporal: temporalOnPostgres(temporalBin) } : {};
  const several = await startSeveral(folder, 'shared', {
    tls: true,
    env: { FRONTAGE_DRAIN_SECONDS: '5' },
    ...temporal,
  });
  const killsWorkers = process.env.FRONTAGE_RESTARTS_KILL === '1';
  const restarts = restartAtRandom(several, { everyMs: everySeconds * 1000, killsWorkers });
  return {
    address: several.address,
    async stop() {
      const { counts, wrong } = await restarts.end();
      console.log(`Restarts: ${JSON.stringify(counts)}`);
      await several.stop();
      if (wrong.length > 0) throw new Error(`restarts went wrong: ${wrong.join('; ')}`);
    },
  };
}
