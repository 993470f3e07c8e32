/**
 * The sandbox of `npm start`, chosen once before our processes start. Only here are builds unprotected without a
 * setting that says so: on an installation that only its owner can reach.
 */
import { userInfo } from 'node:os';
import { findSandbox } from '#providers/sandbox/factory.ts';
import type { SandboxRefusal } from '#providers/sandbox/refusals.ts';
import type { SandboxKind } from '#providers/sandbox/sandbox.ts';
import { workers } from '#runtime/settings/workers.ts';
import { installCommand } from './packages.ts';
import { prepareSandbox } from './services/sandbox-image.ts';
import { UserError } from './user-error.ts';

export type BuildSandbox = {
  /** Undefined: sites cannot be built. */
  kind: SandboxKind | undefined;
  /** Settings for our processes. */
  settings: NodeJS.ProcessEnv;
  /** What to tell the user. */
  lines: string[];
};

const unprotected = 'none-run-builds-unprotected';

/** Makes the sandbox's image and finds the sandbox that works here. Throws `UserError` if the one of the setting does not. */
export async function chooseSandbox(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<BuildSandbox> {
  const mode = readMode(env.FRONTAGE_SANDBOX);
  if (mode === 'off') return unable('… Sites are not built, because FRONTAGE_SANDBOX is off.');
  try {
    await prepareSandbox(dataDir, env, note);
  } catch (error) {
    const reason = firstLine(error);
    return unable(`✗ Sites cannot be built: ${reason} Then start again; everything else works meanwhile.`);
  }
  if (mode === unprotected) return withoutSandbox(`FRONTAGE_SANDBOX is ${unprotected}.`, env);
  const log = { info: note, warn: () => {} };
  const dockerHost = env.DOCKER_HOST ?? '';
  const found = await findSandbox({ mode, dataDir, dockerHost, owner: 'start', log, onProgress: note });
  if ('refusals' in found) return withoutWorking(mode, found.refusals, env);
  await found.sandbox.close();
  return { kind: found.sandbox.kind, settings: {}, lines: [] };
}

function readMode(setting: string | undefined) {
  const { data, error } = workers.FRONTAGE_SANDBOX.safeParse(setting || undefined);
  if (error) throw new UserError(`FRONTAGE_SANDBOX: ${error.issues[0]?.message ?? 'is not valid'}.`);
  return data;
}

const firstLine = (error: unknown) => String((error as Error).message ?? error).split('\n')[0] ?? '';

/** Off, so that publishes are refused at once and do not wait for a worker. */
const unable = (line: string): BuildSandbox => ({
  kind: undefined,
  settings: { FRONTAGE_SANDBOX: 'off' },
  lines: [line],
});

/** No sandbox works: builds are unprotected if only the owner can start one; otherwise sites cannot be built. */
export function withoutWorking(mode: string, refusals: SandboxRefusal[], env: NodeJS.ProcessEnv): BuildSandbox {
  const reasons = [...new Set(refusals.map(({ reason }) => reason))].join(' ');
  const remedy = remedyFor(refusals);
  if (mode !== 'auto')
    throw new UserError(`FRONTAGE_SANDBOX is ${mode}: ${reasons} ${remedy} Or unset FRONTAGE_SANDBOX.`);
  const exposure = whyExposed(env);
  if (!exposure) return withoutSandbox(`no sandbox works here. ${reasons}`, env, remedy);
  return unable(
    `✗ Sites cannot be built: no sandbox works here, and ${exposure}, so builds without one are refused. ${reasons} ${remedy}`,
  );
}

function withoutSandbox(why: string, env: NodeJS.ProcessEnv, remedy?: string): BuildSandbox {
  return {
    kind: 'unprotected',
    settings: { FRONTAGE_SANDBOX: unprotected, FRONTAGE_SIGNUP: env.FRONTAGE_SIGNUP ?? 'closed' },
    lines: [
      `! Site code runs with the rights of your user (${userName()}): ${why}`,
      ...(remedy ? [`! ${remedy} Until then, sign-up is closed to other people.`] : []),
    ],
  };
}

/** A container may run us under an id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `id ${process.getuid?.()}`;
  }
}

/**
 * Why people other than the owner might have their sites built here, as the rest of a sentence. A value that comes from
 * a file (`…_FILE`) is not read, and counts as one.
 */
function whyExposed(env: NodeJS.ProcessEnv): string | undefined {
  if (env.NODE_ENV === 'production') return 'NODE_ENV is production';
  if (env.FRONTAGE_SANDBOX) return `FRONTAGE_SANDBOX is ${env.FRONTAGE_SANDBOX}`;
  if ((settingOf(env, 'FRONTAGE_SIGNUP') ?? 'closed') !== 'closed') return 'FRONTAGE_SIGNUP is not closed';
  for (const name of ['FRONTAGE_API_HOST', 'FRONTAGE_EDGE_HOST', 'FRONTAGE_BASE_URL']) {
    const value = settingOf(env, name);
    if (value && !isLocal(value)) return `${name} is not on this machine’s loopback`;
  }
  return undefined;
}

function settingOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[`${name}_FILE`] ? 'in a file' : env[name];
}

/** Whether this host, or the host of this URL, is this machine’s loopback. */
function isLocal(value: string): boolean {
  const host = URL.canParse(value) ? new URL(value).hostname : value;
  return /^(127(\.\d+){3}|\[?::1\]?|([\w-]+\.)*localhost)$/i.test(host);
}

/** The last refusal is that of the system itself: a change of it, where that is enough, is better than another program. */
function remedyFor(refusals: SandboxRefusal[]): string {
  const last = refusals.findLast(({ remedy }) => remedy !== '');
  if (last?.program === 'bubblewrap') return `For a sandbox: ${installCommand(['bubblewrap'])}.`;
  if (last && !last.program) return last.remedy;
  return `For a sandbox, install a container engine (${installCommand(['docker'])}) and start it.`;
}
