/** The fixture of the publish benchmark: a whole system, sites of a given size, and a visitor who waits. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Answer, callApi } from '#tools/local/client.ts';
import { openAccount } from '#tools/local/owner.ts';
import { prepareSandbox } from '#tools/local/services/sandbox-image.ts';
import { type Stack, startStack } from '#tools/local/stack.ts';
import { cpuSeconds } from './measure.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');

export type Deployment = { id: string; status: string; error?: { code: string; message: string } };
export type BenchSite = {
  id: string;
  name: string;
  /** Folders of the clones. */
  source: string;
  content: string;
};
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/**
 * Starts a system in a temporary folder, safe against a power cut as in production. It uses the project's sandbox
 * image. `env` overrides the defaults.
 */
export async function openFixture(env: NodeJS.ProcessEnv = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const kept = join(project, '.frontage');
  const dataDir = join(dir, 'stack');
  await mkdir(join(kept, 'sandbox'), { recursive: true });
  await mkdir(dataDir, { mode: 0o711 });
  await symlink(join(kept, 'sandbox'), join(dataDir, 'sandbox'));
  const note = (line: string) => console.log(`… ${line}`);
  const stack = await startStack({
    dataDir,
    durable: true,
    env,
    prepare: async () => {
      await prepareSandbox(kept, process.env, note);
      return {};
    },
  });
  const stop = async () => {
    await stack.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  return { dir, kept, stack, stop, ...openCalls(stack), ...openSites(stack, dir), ...openLogs(dataDir) };
}

type Call = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer['body']>;

/** Calls use accounts that are created as needed, because the publishes of an account per hour are limited. */
function openCalls(stack: Stack) {
  const tokens: string[] = [];
  async function newOwner(): Promise<void> {
    const { access_token } = await openAccount(
      stack.env,
      `bench-${randomBytes(6).toString('hex')}@example.com`,
      'Bench',
    );
    tokens.push(access_token);
  }
  const call: Call = async (path, body, headers = {}) => {
    const answer = await callApi(stack.baseUrl, path, { token: tokens.at(-1), body, headers });
    if (answer.status !== 200) throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return { newOwner, call };
}

function openSites(stack: Stack, dir: string) {
  const clone = async (call: Call, id: string, repository: string, folder: string) => {
    const { url, username, password } = await call(`/v1/sites/${id}/git-credentials`, { repository, access: 'write' });
    const address = Object.assign(new URL(url), { username, password });
    await run('git', ['clone', '-q', address.href, folder]);
  };

  /** Creates a site from the template and clones both of its repositories. */
  async function newSite(call: Call, template: string): Promise<BenchSite> {
    const name = `bench-${randomBytes(5).toString('hex')}`;
    const { id } = await call('/v1/sites', { name, title: 'Bench', template });
    const site = { id, name, source: join(dir, name, 'source'), content: join(dir, name, 'content') };
    await clone(call, id, 'source', site.source);
    await clone(call, id, 'content', site.content);
    return site;
  }

  async function push(folder: string, files: Record<string, string | Buffer>, branch = 'main'): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const as = ['-C', folder, '-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
    await run('git', [...as, 'add', '-A']);
    await run('git', [...as, 'commit', '-q', '-m', 'Change']);
    await run('git', [...as, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`]);
  }

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = new URL(stack.edgeUrl);
  const visit = (site: BenchSite, path: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { host: `${site.name}.${stack.baseDomain}:${port}` };
      const asked = request({ agent, host: '127.0.0.1', port, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        answer.once('end', () => resolve(text)).once('error', reject);
      });
      asked.once('error', reject).end();
    });

  /** Polls until the page contains the words. Returns the time at which it did. */
  async function visible(site: BenchSite, path: string, words: string, timeoutMs = 120_000): Promise<number> {
    const end = performance.now() + timeoutMs;
    while (!(await visit(site, path)).includes(words)) {
      if (performance.now() > end) throw new Error(`${site.name}${path} never served the published version`);
      await sleep(3);
    }
    return performance.now();
  }

  return { newSite, push, visible };
}

/** Reads the worker's log. */
function openLogs(dataDir: string) {
  const lines = async () => (await readFile(join(dataDir, 'logs/worker.log'), 'utf8')).split('\n');
  return {
    async msOf(deploymentId: string): Promise<Record<string, number>> {
      const line = (await lines()).find((one) => one.includes(deploymentId) && one.includes('"msg":"built"'));
      return line ? JSON.parse(line).ms : {};
    },
    warmed: async () => (await lines()).filter((line) => line.includes('A warm sandbox is ready.')).length,
  };
}

/** CPU seconds of all our processes, including the databases. */
export async function cpuOf(stack: Stack): Promise<number> {
  let sum = 0;
  for (const name of ['api', 'worker', 'edge', 'postgres', 'temporal'] as const) {
    const pid = stack.pid(name);
    if (pid) sum += await cpuSeconds(pid);
  }
  return sum;
}
