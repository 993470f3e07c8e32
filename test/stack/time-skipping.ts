/**
 * A workflow engine whose time a test skips: Temporal's test server, which the SDK downloads; where it cannot, the same server from its
 * Java archives, taken by name with Maven and kept beside the other tools.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { cacheFolder } from '#tools/local/services/temporal-cli.mjs';
import { addSearchAttributes } from './worker.ts';

const run = promisify(execFile);
const kept = join(cacheFolder(), 'temporal-test-server-1.31.0');
const list = join(import.meta.dirname, 'temporal-test-server.xml');

/** Throws with the reason where neither way is open. */
export async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const engine = await downloaded().catch(async () => await withServer(await fromArchives()));
  await addSearchAttributes(engine.connection as Connection, 'default');
  return engine;
}

const downloaded = () => TestWorkflowEnvironment.createTimeSkipping();

/** The SDK waits 5 s for the server. On a busy machine Java may need longer, so a start is repeated. */
async function withServer(path: string, attempts = 5): Promise<TestWorkflowEnvironment> {
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    });
  } catch (error) {
    if (attempts <= 1) throw error;
    return await withServer(path, attempts - 1);
  }
}

async function fromArchives(): Promise<string> {
  const command = join(kept, 'server');
  if (existsSync(command)) return command;
  await mkdir(cacheFolder(), { recursive: true });
  const folder = await mkdtemp(`${kept}-`);
  try {
    const lib = join(folder, 'lib');
    await run('mvn', ['-q', '-f', list, 'dependency:copy-dependencies', `-DoutputDirectory=${lib}`], {
      timeout: 180_000,
    });
    const java = `exec java -XX:TieredStopAtLevel=1 -Xmx256m -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"`;
    await writeFile(join(folder, 'server'), `#!/bin/sh\n${java}\n`);
    await chmod(join(folder, 'server'), 0o755);
    await rename(folder, kept).catch(() => {});
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return command;
}
