/** Sandboxes as a test sees them: small sites in, files, log and outcome out. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openBubblewrapSandbox } from '#providers/sandbox/bubblewrap.ts';
import { findControlGroups } from '#providers/sandbox/cgroups.ts';
import { openDockerSandbox } from '#providers/sandbox/docker.ts';
import { findEngine } from '#providers/sandbox/factory.ts';
import { openNamespacesSandbox } from '#providers/sandbox/namespaces.ts';
import type { BuildLimits, BuildOutcome, BuildRequest, Sandbox } from '#providers/sandbox/sandbox.ts';
import type { WarmOptions } from '#providers/sandbox/warm-pool.ts';
import type { Kind } from './kinds.ts';
import { toTar } from './tar.ts';

/** The image is kept where `npm start` keeps it: making it takes a minute, and equal images are one. */
export const dataDir = join(import.meta.dirname, '../../.frontage');
export const engine = await findEngine(process.env.DOCKER_HOST ?? '');

export const roomy: BuildLimits = {
  timeoutMs: 60_000,
  memoryBytes: 1024 ** 3,
  cpus: 2,
  pidsMax: 256,
  logBytesMax: 1_000_000,
  outputBytesMax: 100_000_000,
  outputFilesMax: 2_000,
  fileBytesMax: 10_000_000,
};

export const newOwner = () => `test-${randomBytes(6).toString('hex')}`;
const newDeployment = () => `dep_${randomBytes(8).toString('hex')}`;

export async function openKind(kind: Kind, owner = newOwner(), warm?: WarmOptions, folder = dataDir): Promise<Sandbox> {
  const options = { dataDir: folder, owner, onProgress: () => {}, warm };
  if (kind === 'bubblewrap') return openBubblewrapSandbox(options);
  if (kind === 'namespaces') return openNamespacesSandbox(options);
  if (!engine) throw new Error('No container engine answers.');
  return openDockerSandbox({ ...options, docker: engine });
}

export type Site = Record<string, string | Buffer>;
export type Built = { outcome: BuildOutcome; log: string; files: Map<string, Buffer> };
export type Asked = Partial<Omit<BuildRequest, 'limits'>> & { limits?: Partial<BuildLimits> };

/** A site of one page; what is given is added to it or put in its place. */
export const site = (files: Site = {}): Site => ({ 'src/pages/index.astro': '<h1>Hello</h1>', ...files });

/** A site whose configuration runs the code, and whose build then goes on. */
export const siteThatRuns = (code: string, files: Site = {}): Site =>
  site({ 'astro.config.mjs': `${code}\nexport default {};`, ...files });

/** A build that takes memory without end. */
export const hog = siteThatRuns('const all = []; for (;;) all.push(Buffer.alloc(16 * 1048576, 1));');

/** A site that changes its output after the framework is done with it. `dist` is the folder, with `/` at its end. */
export const siteThatWrites = (code: string): Site =>
  site({
    'astro.config.mjs': `
      import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os';
      const write = async (dist) => { ${code} };
      export default { integrations: [{ name: 'x', hooks: {
        'astro:build:done': ({ dir }) => write(dir.pathname) } }] };`,
  });

/** A site that writes the limits of its build's process to `limits.txt`. */
export const siteThatTellsLimits = siteThatWrites(
  "fs.writeFileSync(dist + 'limits.txt', fs.readFileSync('/proc/self/limits'));",
);
const coarseLimit = roomy.memoryBytes + 3 * 1024 ** 3;
/** Its line where only RLIMIT_DATA limits the memory of a `roomy` build. */
export const coarseLimitLine = new RegExp(`^Max data size +${coarseLimit} +${coarseLimit} `, 'm');

export function request(files: Site | Map<string, Buffer>, asked: Asked = {}): BuildRequest {
  return {
    deploymentId: newDeployment(),
    source: toTar(files instanceof Map ? Object.fromEntries(files) : files),
    siteUrl: 'https://shop.example',
    signal: new AbortController().signal,
    onLog: () => {},
    onFile: async ({ content }) => void content.resume(),
    ...asked,
    limits: { ...roomy, ...asked.limits },
  };
}

export async function build(sandbox: Sandbox, files: Site | Map<string, Buffer>, asked: Asked = {}): Promise<Built> {
  const found = new Map<string, Buffer>();
  let log = '';
  const outcome = await sandbox.build(
    request(files, {
      onLog: (text) => {
        log += text;
      },
      onFile: async ({ path, content }) => {
        const parts: Buffer[] = [];
        for await (const part of content as AsyncIterable<Buffer>) parts.push(part);
        found.set(path, Buffer.concat(parts));
      },
      ...asked,
    }),
  );
  return { outcome, log, files: found };
}

/** Resolves once the site has said the words in its log, with a build that goes on. */
export async function buildUntil(sandbox: Sandbox, files: Site, words: string, asked: Asked = {}) {
  let ended: Promise<BuildOutcome> | undefined;
  await new Promise<void>((resolve, reject) => {
    let log = '';
    const onLog = (text: string) => {
      log += text;
      if (log.includes(words)) resolve();
    };
    ended = sandbox.build(request(files, { ...asked, onLog }));
    ended.then((outcome) => reject(new Error(`${JSON.stringify(outcome)}\n${log}`)), reject);
  });
  return { ended: ended as Promise<BuildOutcome> };
}

/** Containers of this owner, running or not. */
export async function listContainers(owner: string): Promise<string[]> {
  const found = await engine?.listContainers({ all: true, filters: { label: [`frontage.owner=${owner}`] } });
  return (found ?? []).map(({ Names }) => Names[0]?.split('.')[2] ?? '');
}

/** What the sandboxes of this owner are for; undefined where this machine does not let them be found. */
export async function listPurposes(kind: Kind, owner: string): Promise<string[] | undefined> {
  if (kind === 'docker') return listContainers(owner);
  const groups = await findControlGroups(owner);
  const found = await groups.list();
  await groups.close();
  return groups.limited ? found.map(({ purpose }) => purpose) : undefined;
}
